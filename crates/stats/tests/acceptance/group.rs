//! A11: the verdict on a group of ten tests.
//!
//! In: ten tests whose noise is half shared within a round. Out: the share of unchanged
//! groups called changed, by our estimate and by the pooling that we do not offer.

use crate::document;
use crate::noise::{Noise, PAIR_SD, REPLICATES, excludes_zero};
use rqps_stats::{Paired, group};

const TESTS: usize = 10;
const CV: f64 = 0.02;

#[test]
fn shared_noise_does_not_make_a_group_change() {
    let mut rows = Vec::new();
    for n in [4, 6, 8, 10] {
        let mut noise = Noise::new(1100 + n as u64);
        let half = PAIR_SD * CV * 0.5f64.sqrt();
        let (mut grouped, mut pooled) = (0, 0);
        for _ in 0..REPLICATES {
            let shared: Vec<f64> = (0..n).map(|_| half * noise.normal()).collect();
            let tests: Vec<Vec<f64>> =
                (0..TESTS).map(|_| shared.iter().map(|shared| shared + half * noise.normal()).collect()).collect();
            let slices: Vec<&[f64]> = tests.iter().map(Vec::as_slice).collect();
            grouped += usize::from(excludes_zero(&group(&slices).unwrap().plain().unwrap()));
            pooled += usize::from(excludes_zero(&Paired::new(&tests.concat()).unwrap().plain().unwrap()));
        }
        let (grouped, pooled) = (grouped as f64 / REPLICATES as f64, pooled as f64 / REPLICATES as f64);
        assert!(grouped <= 0.055, "{n} rounds: {grouped}");
        assert!(pooled > 0.3, "pooling would be fine after all: {pooled}");
        rows.push(vec![n.to_string(), document::cell(grouped), document::cell(pooled)]);
    }
    let header = ["rounds", "averaged per round (ours)", "all values pooled (not offered)"];
    document::check("group", &document::table(&header, &rows), 0.004);
}
