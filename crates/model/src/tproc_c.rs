//! What is run of TPROC-C: profile, forms of the transactions, warehouses, and the quirks of the `hammerdb` profile.
//!
//! In: choices of a campaign. Out: the [`TprocC`] of a plan, the [`Warehouses`] that its servers begin with, and the
//! [`RunRecord`] of a sample. It knows no SQL. The workload is derived from TPC-C; its results are not comparable with
//! published TPC-C results.

use crate::accounting::Accounting;
use crate::{Engine, plural, words};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

words! {
    /// By whose rules transactions and data are made; the word is that of `--tproc-c-profile`.
    Profile {
        /// The rules of the TPC-C specification, with the same semantics on every engine.
        Tpcc = "tpcc",
        /// What HammerDB does, to compare with published numbers.
        Hammerdb = "hammerdb",
    }
}

words! {
    /// How a transaction reaches the server.
    Form {
        /// Statements of the client, each with the values that those before it returned.
        ClientSql = "client-sql",
        /// A prepared SELECT of a function (PostgreSQL).
        Function = "function",
        /// CALL of a procedure, sent as text (PostgreSQL).
        Procedure = "procedure",
        /// SET, CALL and SELECT of the results, sent as text (MySQL, MariaDB).
        Call = "call",
        /// The same with the CALL prepared (MySQL, MariaDB).
        PreparedCall = "prepared-call",
    }
}

impl Form {
    /// The usual one: that of the published results with HammerDB; else the one that is the same on every engine.
    pub const fn usual(profile: Profile, engine: Engine) -> Form {
        match (profile, engine) {
            (Profile::Tpcc, _) => Form::ClientSql,
            (Profile::Hammerdb, Engine::Postgres) => Form::Function,
            (Profile::Hammerdb, Engine::Mysql | Engine::Mariadb) => Form::Call,
        }
    }

    /// Whether an engine has it.
    pub fn is_of(self, engine: Engine) -> bool {
        match self {
            Form::ClientSql => true,
            Form::Function | Form::Procedure => engine == Engine::Postgres,
            Form::Call | Form::PreparedCall => engine != Engine::Postgres,
        }
    }
}

words! {
    /// The isolation level of transactions.
    Isolation {
        /// The server's own: READ COMMITTED on PostgreSQL, REPEATABLE READ on MySQL and MariaDB.
        ServerDefault = "server-default",
        /// READ COMMITTED.
        ReadCommitted = "read-committed",
        /// REPEATABLE READ.
        RepeatableRead = "repeatable-read",
        /// SERIALIZABLE.
        Serializable = "serializable",
    }
}

words! {
    /// How many of the consistency conditions are checked after a run.
    Check {
        /// C1 to C4, on at most 20 warehouses.
        Quick = "quick",
        /// All twelve on all warehouses.
        Full = "full",
    }
}

words! {
    /// Where HammerDB departs from the specification. The profile `hammerdb` has all of them, each can be switched off;
    /// `tpcc` has none. The first ones are of the data, the others of the transactions.
    Quirk {
        /// Half of the customers have bad credit, not a tenth.
        HalfBadCredit = "half-bad-credit",
        /// Customers of the first orders repeat, so that half of them have none.
        RepeatedCustomers = "repeated-customers",
        /// Delivered lines have an amount and the others none, the wrong way round.
        SwappedAmounts = "swapped-amounts",
        /// Taxes from 0.10 on, not from 0.
        NarrowTaxes = "narrow-taxes",
        /// Last names are drawn with the same constant in load and run.
        SameConstant = "same-constant",
        /// The mark of an original item is in lower case.
        LowercaseOriginal = "lowercase-original",
        /// ol_amount is an integer (MySQL, MariaDB).
        IntegerAmounts = "integer-amounts",
        /// The primary key of stock begins with the item (PostgreSQL).
        ItemFirstStock = "item-first-stock",
        /// A transaction is drawn from 1 to 23 each time, not from a deck of cards.
        DrawnMix = "drawn-mix",
        /// Customers and items are drawn evenly, not by NURand.
        EvenIds = "even-ids",
        /// A session draws its home warehouse, so that some have several sessions and others none.
        DrawnHome = "drawn-home",
        /// Items, quantities and rollbacks are drawn in the server, where a routine runs the transaction.
        ServerDraws = "server-draws",
        /// The amount of a line of a new order has taxes and discount in it.
        TaxedAmounts = "taxed-amounts",
        /// An order with an item that is not there is committed; routines work on all its lines at once (PostgreSQL).
        CommittedInvalidItem = "committed-invalid-item",
        /// Routines keep the lines of an order in arrays of the columns' own types, to which each element is converted,
        /// and with them what no statement needs: numbers, stock that is left (PostgreSQL).
        TypedArrays = "typed-arrays",
        /// Routines read all ten texts of a stock, each into a variable of its own, and then choose the district's
        /// (MySQL, MariaDB).
        DistrictTexts = "district-texts",
        /// Routines do their work in a subtransaction, since they have a handler of errors (PostgreSQL).
        Subtransactions = "subtransactions",
        /// The last name is a literal of the prepared call, so that nobody is found by it (PostgreSQL functions).
        LiteralLastName = "literal-last-name",
        /// The customer found by name is one row off.
        NameRowOff = "name-row-off",
        /// A payment is added to the balance (MySQL, MariaDB).
        AddedPayment = "added-payment",
        /// Balance and stock are read without a lock and written back.
        UnlockedReads = "unlocked-reads",
        /// A delivery takes any new order, and does not check that it got it (MySQL, MariaDB).
        UncheckedDelivery = "unchecked-delivery",
        /// Counters of customer and stock that no transaction reads are not kept.
        MissingCounters = "missing-counters",
        /// Payments are whole numbers.
        WholePayments = "whole-payments",
        /// What failed for a passing reason is not tried again.
        NoRetry = "no-retry",
    }
}

impl Quirk {
    /// Whether it changes tables or rows, so that it needs data of its own.
    pub fn is_of_data(self) -> bool {
        self <= Quirk::ItemFirstStock
    }

    /// Whether it changes anything on an engine.
    pub fn is_on(self, engine: Engine) -> bool {
        use Quirk::{AddedPayment, DistrictTexts, IntegerAmounts, UncheckedDelivery};
        use Quirk::{CommittedInvalidItem, ItemFirstStock, LiteralLastName, Subtransactions, TypedArrays};
        match self {
            ItemFirstStock | CommittedInvalidItem | TypedArrays | Subtransactions | LiteralLastName => {
                engine == Engine::Postgres
            }
            IntegerAmounts | DistrictTexts | AddedPayment | UncheckedDelivery => engine != Engine::Postgres,
            _ => true,
        }
    }
}

/// The type of transaction that throughput counts; what was rolled back is of another type.
pub const NEW_ORDER: &str = "new-order";

/// Tables of so many warehouses, as they are loaded.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Warehouses {
    /// How many.
    pub warehouses: u32,
    /// Partitions of order_line; 1 where it has none.
    pub partitions: u32,
    /// Quirks of the data.
    pub quirks: BTreeSet<Quirk>,
}

/// Tables of the schema.
pub const TABLES: u32 = 9;

/// Rows of the table of items.
pub const ITEMS: u32 = 100_000;

/// Districts of a warehouse.
pub const DISTRICTS: u32 = 10;

/// Customers of a district, and orders of a district once they are loaded.
pub const CUSTOMERS: u32 = 3000;

/// Orders of a district that are delivered once they are loaded.
pub const DELIVERED: u32 = 2100;

impl Warehouses {
    /// Rows of all tables, with ten lines an order.
    pub fn rows(&self) -> u64 {
        let customers = u64::from(DISTRICTS * CUSTOMERS);
        let new_orders = u64::from(DISTRICTS * (CUSTOMERS - DELIVERED));
        let of_one = 1 + u64::from(DISTRICTS) + u64::from(ITEMS) + 3 * customers + new_orders + 10 * customers;
        u64::from(ITEMS) + u64::from(self.warehouses) * of_one
    }
}

/// From so many warehouses on order_line can be partitioned; a partition is for half as many.
const PARTITIONED_FROM: u32 = 200;

/// What is run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TprocC {
    /// By whose rules.
    pub profile: Profile,
    /// Numbers of warehouses, each a stage with data of its own.
    pub warehouses: Vec<u32>,
    /// How transactions reach the server, for each engine of the campaign.
    pub forms: BTreeMap<Engine, Form>,
    /// Quirks of data and transactions.
    pub quirks: BTreeSet<Quirk>,
    /// Whether order_line is partitioned from 200 warehouses on.
    pub partitioned: bool,
    /// Isolation level.
    pub isolation: Isolation,
    /// Whether a virtual user draws its warehouse for each transaction among those that are its own, instead of keeping
    /// one.
    pub all_warehouses: bool,
    /// Whether virtual users key and think.
    pub keying_and_thinking: bool,
    /// What is checked after a run.
    pub check: Check,
}

impl TprocC {
    /// The name of the test with so many warehouses, as the published tables have it.
    pub fn test_name(warehouses: u32) -> String {
        format!("w={warehouses}")
    }

    /// The warehouses of a test.
    pub fn warehouses_of(&self, test: &str) -> Option<u32> {
        self.warehouses.iter().copied().find(|warehouses| TprocC::test_name(*warehouses) == test)
    }

    /// Its numbers of warehouses in words: `1 warehouse`, `2, 4 warehouses`.
    pub fn warehouses_in_words(&self) -> String {
        match &self.warehouses[..] {
            [one] => plural(*one, "warehouse"),
            several => format!("{} warehouses", several.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")),
        }
    }

    /// Profile and forms in words: `tpcc, client-sql`, `hammerdb, function (postgres), call (mysql)`.
    pub fn rules(&self) -> String {
        let mut forms: Vec<(Form, Vec<Engine>)> = Vec::new();
        for (engine, form) in &self.forms {
            match forms.iter_mut().find(|(known, _)| known == form) {
                Some((_, engines)) => engines.push(*engine),
                None => forms.push((*form, vec![*engine])),
            }
        }
        let told = |(form, engines): &(Form, Vec<Engine>)| {
            let names: Vec<String> = engines.iter().map(Engine::to_string).collect();
            format!("{form} ({})", names.join(", "))
        };
        let told = match &forms[..] {
            [(form, _)] => form.to_string(),
            several => several.iter().map(told).collect::<Vec<_>>().join(", "),
        };
        format!("{}, {told}", self.profile)
    }

    /// Its quirks in words.
    pub fn quirks_in_words(&self) -> String {
        match self.quirks.len() {
            0 => "none".to_owned(),
            all if all == Quirk::ALL.len() => "all".to_owned(),
            _ => self.quirks.iter().map(|quirk| quirk.name()).collect::<Vec<_>>().join(", "),
        }
    }

    /// The data of so many warehouses.
    pub fn data(&self, warehouses: u32) -> Warehouses {
        let is_partitioned = self.partitioned && warehouses >= PARTITIONED_FROM;
        Warehouses {
            warehouses,
            partitions: if is_partitioned { warehouses / (PARTITIONED_FROM / 2) } else { 1 },
            quirks: self.quirks.iter().copied().filter(|quirk| quirk.is_of_data()).collect(),
        }
    }
}

/// What a run did beyond its committed new orders, and whether its tables are consistent afterwards.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// What became of the transactions of each type in counted time, in the order of the types.
    pub transactions: Vec<TypeCount>,
    /// New orders that were acknowledged, ramp-up included.
    pub new_orders: u64,
    /// Payments that were acknowledged, ramp-up included.
    pub payments: u64,
    /// New orders and payments whose answer never came: they may have been committed or not.
    pub unanswered: u64,
    /// What the tables held when the run began; `None` where they were a fresh copy of what was loaded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held: Option<Held>,
    /// By how much the districts' counters of orders grew meanwhile; `None` where that could not be read.
    pub new_orders_of_districts: Option<u64>,
    /// Which consistency conditions were checked.
    pub checked: Option<Check>,
    /// Those that are broken.
    pub broken: Vec<BrokenCondition>,
}

/// What earlier runs left in the tables, beyond what was loaded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Held {
    /// New orders, delivered or not.
    pub new_orders: u64,
    /// Payments.
    pub payments: u64,
}

/// What became of the transactions of one type.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TypeCount {
    /// The type, such as `new-order`.
    pub name: String,
    /// How many, and how they ended.
    pub accounting: Accounting,
}

/// A consistency condition of the tables (TPC-C, clause 3.3.2) that does not hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BrokenCondition {
    /// Its name, such as `C2`.
    pub condition: String,
    /// Rows that violate it.
    pub rows: u64,
    /// Some of their keys.
    pub examples: Vec<String>,
    /// Whether it must hold for what was run. If so, the run is invalid.
    pub must_hold: bool,
}
