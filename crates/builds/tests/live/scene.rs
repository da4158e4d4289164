//! What the live tests share: builds of the user's cache.

use rqps_builds::{Catalog, installation};
use rqps_machine::Cache;
use rqps_model::BuildSpec;
use rqps_model::facts::BuildFacts;

/// The build of a `--build` word, installed if need be.
pub(crate) fn build(spec: &str) -> BuildFacts {
    let spec: BuildSpec = spec.parse().expect("a build");
    let cache = Cache::open().expect("the user's cache");
    installation::install(&spec, &Catalog::built_in(), &cache, &mut |_| ()).expect("installed")
}
