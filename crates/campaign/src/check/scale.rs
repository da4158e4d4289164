//! The size of an Insert Benchmark: what a scale and the words on top of it come to, and whether that makes sense.
//!
//! In: a request that presets have filled. Out: a sound `Shape`, or every fault at the word that causes it. It knows no
//! size by itself: these come with the vocabulary.

use super::Checker;
use crate::diagnostic::Fault;
use crate::place::Spanned;
use crate::preset::sized;
use crate::vocabulary::did_you_mean;
use rqps_model::insert::Shape;
use rqps_suites::Suite;

impl Checker<'_> {
    /// The shape asked for, at the largest number of clients. `None` where something is wrong with it.
    pub(super) fn shape(&mut self, suite: &Suite) -> Option<Shape> {
        let request = self.request;
        let sound = self.scale(suite)?;
        let mut shape = sound.clone();
        self.put(&mut shape, &sound, request.rows.as_ref(), |shape, rows| shape.rows_initial = *rows);
        self.put(&mut shape, &sound, request.rows_written.as_ref(), |shape, rows| shape.rows_written = *rows);
        for clients in request.clients.iter().flat_map(|list| &list.value) {
            self.put(&mut shape, &sound, Some(clients), |shape, clients| shape.clients = *clients);
        }
        self.put(&mut shape, &sound, request.write_rates.as_ref(), |shape, rates| {
            shape.rates_per_s = rates.iter().map(|rate| rate.value).collect();
        });
        self.put(&mut shape, &sound, request.read_seconds.as_ref(), |shape, seconds| shape.seconds = *seconds);
        self.put(&mut shape, &sound, request.rest_seconds.as_ref(), |shape, seconds| shape.rest_seconds = *seconds);
        self.put(&mut shape, &sound, request.catch_up_seconds.as_ref(), |shape, seconds| {
            shape.catch_up_seconds = *seconds;
        });
        let levels = request.clients.iter().flat_map(|list| &list.value).map(|clients| clients.value);
        shape.clients = levels.max()?;
        shape.shared_table = self.is_one_table_shared(shape.clients)?;
        Some(shape)
    }

    /// The scale's own numbers.
    fn scale(&mut self, suite: &Suite) -> Option<Shape> {
        let scale = self.request.scale.as_ref()?;
        let Some(shape) = sized(&scale.value, &suite.scales) else {
            let names: Vec<&str> = suite.scales.keys().map(String::as_str).collect();
            let fault = Fault::error(format!("unknown scale `{}`", scale.value.word))
                .expected(format!("one of {}, with a factor if need be: small:0.1", names.join(", ")))
                .help_if(did_you_mean(&scale.value.word, names));
            self.error(&scale.place, fault);
            return None;
        };
        Some(shape)
    }

    /// Puts a value into the shape; alone it must leave a sound shape sound, so that its fault is told at its own
    /// place.
    fn put<T>(&mut self, shape: &mut Shape, sound: &Shape, stated: Option<&Spanned<T>>, put: impl Fn(&mut Shape, &T)) {
        let Some(stated) = stated else { return };
        put(shape, &stated.value);
        let mut alone = sound.clone();
        put(&mut alone, &stated.value);
        if let Err(fault) = alone.check() {
            self.error(&stated.place, Fault::error(fault.0));
        }
    }

    /// Whether all clients use one table. Otherwise each has its own, and any other number of tables is a fault.
    fn is_one_table_shared(&mut self, clients: u32) -> Option<bool> {
        let Some(tables) = &self.request.tables else { return Some(false) };
        let levels: Vec<u32> =
            self.request.clients.iter().flat_map(|list| &list.value).map(|level| level.value).collect();
        if tables.value == 1 || levels.iter().all(|level| *level == tables.value) {
            return Some(tables.value == 1 && clients > 1);
        }
        let levels: Vec<String> = levels.iter().map(u32::to_string).collect();
        let fault = Fault::error(format!("`tables` is {}, and `clients` is {}", tables.value, levels.join(", ")));
        let expected = "1, a table that all clients share, or nothing, a table for each client";
        self.error(&tables.place, fault.expected(expected));
        None
    }
}

#[cfg(test)]
mod tests;
