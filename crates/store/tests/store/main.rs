//! The store on a real disk: what is written comes back, what is damaged is told, what is interrupted is absent.

mod crash;
mod damage;
mod full_disk;
mod golden;
mod made;
mod round_trip;
mod rows;
mod speed;
