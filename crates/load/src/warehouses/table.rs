//! The nine tables: their columns by engine, their keys, and how many rows a warehouse has in each.
//!
//! In: nothing. Out: data from which statements are made. The columns stand in the order that keeps PostgreSQL's rows
//! without padding, and on MySQL in that of the published schema; rows are loaded in the order of `fields`.

use rqps_model::tproc_c::{CUSTOMERS, DELIVERED, DISTRICTS, ITEMS};

/// The tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Table {
    /// What a warehouse has of each item.
    Stock = 1,
    /// Lines of orders.
    OrderLine,
    /// Customers of a district.
    Customer,
    /// Orders of a district.
    Orders,
    /// Payments.
    History,
    /// Orders that are not delivered yet.
    NewOrder,
    /// What is sold; the only table that does not grow with warehouses.
    Item,
    /// Districts of a warehouse.
    District,
    /// Warehouses.
    Warehouse,
}

/// What stands in a table.
pub(crate) struct Schema {
    pub(crate) name: &'static str,
    /// Columns on PostgreSQL.
    pub(crate) postgres: &'static str,
    /// Columns on MySQL and MariaDB.
    pub(crate) mysql: &'static str,
    /// Columns of the primary key; none has history.
    pub(crate) key: &'static str,
    /// Columns of a second index.
    pub(crate) index: Option<&'static str>,
    /// Columns in the order in which rows are loaded.
    pub(crate) fields: &'static str,
}

/// Rows of a warehouse are made in so many parts.
pub(crate) const TENTHS: u32 = 10;

impl Table {
    /// All, those that take long to load first.
    pub(crate) const ALL: [Table; 9] = [
        Table::Stock,
        Table::OrderLine,
        Table::Customer,
        Table::Orders,
        Table::History,
        Table::NewOrder,
        Table::Item,
        Table::District,
        Table::Warehouse,
    ];

    pub(crate) const fn name(self) -> &'static str {
        self.schema().name
    }

    /// Rows of a tenth of a warehouse; of lines as many as there are orders, and of the items a tenth of all.
    pub(crate) const fn rows_of_tenth(self) -> u32 {
        match self {
            Table::Stock | Table::Item => ITEMS / TENTHS,
            Table::OrderLine | Table::Customer | Table::Orders | Table::History => CUSTOMERS * DISTRICTS / TENTHS,
            Table::NewOrder => (CUSTOMERS - DELIVERED) * DISTRICTS / TENTHS,
            Table::District => DISTRICTS / TENTHS,
            Table::Warehouse => 1,
        }
    }

    pub(crate) const fn schema(self) -> Schema {
        match self {
            Table::Stock => STOCK,
            Table::OrderLine => ORDER_LINE,
            Table::Customer => CUSTOMER,
            Table::Orders => ORDERS,
            Table::History => HISTORY,
            Table::NewOrder => NEW_ORDER,
            Table::Item => ITEM,
            Table::District => DISTRICT,
            Table::Warehouse => WAREHOUSE,
        }
    }
}

/// The primary key of stock where its first column is the item.
pub(crate) const ITEM_FIRST_KEY: &str = "s_i_id, s_w_id";

/// The column of amounts of order_line on MySQL and MariaDB, and what it is where amounts are integers.
pub(crate) const DECIMAL_AMOUNT: &str = "ol_amount decimal(6,2)";
pub(crate) const INTEGER_AMOUNT: &str = "ol_amount int";

const STOCK: Schema = Schema {
    name: "stock",
    postgres: "s_i_id int NOT NULL, s_w_id int NOT NULL, s_ytd int NOT NULL, s_quantity smallint NOT NULL, \
               s_order_cnt smallint NOT NULL, s_remote_cnt smallint NOT NULL, s_dist_01 char(24) NOT NULL, \
               s_dist_02 char(24) NOT NULL, s_dist_03 char(24) NOT NULL, s_dist_04 char(24) NOT NULL, \
               s_dist_05 char(24) NOT NULL, s_dist_06 char(24) NOT NULL, s_dist_07 char(24) NOT NULL, \
               s_dist_08 char(24) NOT NULL, s_dist_09 char(24) NOT NULL, s_dist_10 char(24) NOT NULL, \
               s_data varchar(50) NOT NULL",
    mysql: "s_i_id int NOT NULL, s_w_id int NOT NULL, s_quantity int, s_dist_01 char(24), s_dist_02 char(24), \
            s_dist_03 char(24), s_dist_04 char(24), s_dist_05 char(24), s_dist_06 char(24), s_dist_07 char(24), \
            s_dist_08 char(24), s_dist_09 char(24), s_dist_10 char(24), s_ytd bigint, s_order_cnt int, \
            s_remote_cnt int, s_data varchar(50)",
    key: "s_w_id, s_i_id",
    index: None,
    fields: "s_i_id, s_w_id, s_ytd, s_quantity, s_order_cnt, s_remote_cnt, s_dist_01, s_dist_02, s_dist_03, s_dist_04, \
             s_dist_05, s_dist_06, s_dist_07, s_dist_08, s_dist_09, s_dist_10, s_data",
};

const ORDER_LINE: Schema = Schema {
    name: "order_line",
    postgres: "ol_delivery_d timestamptz, ol_o_id int NOT NULL, ol_w_id int NOT NULL, ol_i_id int NOT NULL, \
               ol_supply_w_id int NOT NULL, ol_d_id smallint NOT NULL, ol_number smallint NOT NULL, \
               ol_quantity smallint NOT NULL, ol_amount numeric(6,2), ol_dist_info char(24)",
    mysql: "ol_w_id int NOT NULL, ol_d_id int NOT NULL, ol_o_id int NOT NULL, ol_number int NOT NULL, ol_i_id int, \
            ol_delivery_d datetime, ol_amount decimal(6,2), ol_supply_w_id int, ol_quantity int, \
            ol_dist_info char(24)",
    key: "ol_w_id, ol_d_id, ol_o_id, ol_number",
    index: None,
    fields: "ol_w_id, ol_d_id, ol_o_id, ol_number, ol_i_id, ol_supply_w_id, ol_delivery_d, ol_quantity, ol_amount, \
             ol_dist_info",
};

const CUSTOMER: Schema = Schema {
    name: "customer",
    postgres: "c_since timestamptz NOT NULL, c_id int NOT NULL, c_w_id int NOT NULL, c_d_id smallint NOT NULL, \
               c_payment_cnt smallint NOT NULL, c_delivery_cnt smallint NOT NULL, c_first varchar(16) NOT NULL, \
               c_middle char(2) NOT NULL, c_last varchar(16) NOT NULL, c_street_1 varchar(20) NOT NULL, \
               c_street_2 varchar(20) NOT NULL, c_city varchar(20) NOT NULL, c_state char(2) NOT NULL, \
               c_zip char(9) NOT NULL, c_phone char(16) NOT NULL, c_credit char(2) NOT NULL, \
               c_credit_lim numeric(12,2) NOT NULL, c_discount numeric(4,4) NOT NULL, \
               c_balance numeric(12,2) NOT NULL, c_ytd_payment numeric(12,2) NOT NULL, c_data varchar(500) NOT NULL",
    mysql: "c_id int NOT NULL, c_d_id int NOT NULL, c_w_id int NOT NULL, c_first varchar(16), c_middle char(2), \
            c_last varchar(16), c_street_1 varchar(20), c_street_2 varchar(20), c_city varchar(20), c_state char(2), \
            c_zip char(9), c_phone char(16), c_since datetime, c_credit char(2), c_credit_lim decimal(12,2), \
            c_discount decimal(4,4), c_balance decimal(12,2), c_ytd_payment decimal(12,2), c_payment_cnt int, \
            c_delivery_cnt int, c_data varchar(500)",
    key: "c_w_id, c_d_id, c_id",
    index: Some("c_w_id, c_d_id, c_last, c_first, c_id"),
    fields: "c_w_id, c_d_id, c_id, c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip, c_phone, \
             c_since, c_credit, c_credit_lim, c_discount, c_balance, c_ytd_payment, c_payment_cnt, c_delivery_cnt, \
             c_data",
};

const ORDERS: Schema = Schema {
    name: "orders",
    postgres: "o_entry_d timestamptz NOT NULL, o_id int NOT NULL, o_w_id int NOT NULL, o_c_id int NOT NULL, \
               o_d_id smallint NOT NULL, o_carrier_id smallint, o_ol_cnt smallint NOT NULL, \
               o_all_local smallint NOT NULL",
    mysql: "o_id int NOT NULL, o_w_id int NOT NULL, o_d_id int NOT NULL, o_c_id int, o_carrier_id int, o_ol_cnt int, \
            o_all_local int, o_entry_d datetime",
    key: "o_w_id, o_d_id, o_id",
    index: Some("o_w_id, o_d_id, o_c_id, o_id"),
    fields: "o_w_id, o_d_id, o_id, o_c_id, o_carrier_id, o_ol_cnt, o_all_local, o_entry_d",
};

const HISTORY: Schema = Schema {
    name: "history",
    postgres: "h_date timestamptz NOT NULL, h_c_id int, h_c_w_id int NOT NULL, h_w_id int NOT NULL, \
               h_c_d_id smallint NOT NULL, h_d_id smallint NOT NULL, h_amount numeric(6,2) NOT NULL, \
               h_data varchar(24) NOT NULL",
    mysql: "h_c_id int, h_c_d_id int, h_c_w_id int, h_d_id int, h_w_id int, h_date datetime, h_amount decimal(6,2), \
            h_data varchar(24)",
    key: "",
    index: None,
    fields: "h_c_w_id, h_c_d_id, h_c_id, h_w_id, h_d_id, h_date, h_amount, h_data",
};

const NEW_ORDER: Schema = Schema {
    name: "new_order",
    postgres: "no_w_id int NOT NULL, no_o_id int NOT NULL, no_d_id smallint NOT NULL",
    mysql: "no_w_id int NOT NULL, no_d_id int NOT NULL, no_o_id int NOT NULL",
    key: "no_w_id, no_d_id, no_o_id",
    index: None,
    fields: "no_w_id, no_d_id, no_o_id",
};

const ITEM: Schema = Schema {
    name: "item",
    postgres: "i_id int NOT NULL, i_im_id int NOT NULL, i_name varchar(24) NOT NULL, i_price numeric(5,2) NOT NULL, \
               i_data varchar(50) NOT NULL",
    mysql: "i_id int NOT NULL, i_im_id int, i_name varchar(24), i_price decimal(5,2), i_data varchar(50)",
    key: "i_id",
    index: None,
    fields: "i_id, i_im_id, i_name, i_price, i_data",
};

const DISTRICT: Schema = Schema {
    name: "district",
    postgres: "d_w_id int NOT NULL, d_next_o_id int NOT NULL, d_id smallint NOT NULL, d_ytd numeric(12,2) NOT NULL, \
               d_tax numeric(4,4) NOT NULL, d_name varchar(10) NOT NULL, d_street_1 varchar(20) NOT NULL, \
               d_street_2 varchar(20) NOT NULL, d_city varchar(20) NOT NULL, d_state char(2) NOT NULL, \
               d_zip char(9) NOT NULL",
    mysql: "d_id int NOT NULL, d_w_id int NOT NULL, d_ytd decimal(12,2), d_tax decimal(4,4), d_next_o_id int, \
            d_name varchar(10), d_street_1 varchar(20), d_street_2 varchar(20), d_city varchar(20), d_state char(2), \
            d_zip char(9)",
    key: "d_w_id, d_id",
    index: None,
    fields: "d_w_id, d_id, d_ytd, d_next_o_id, d_tax, d_name, d_street_1, d_street_2, d_city, d_state, d_zip",
};

const WAREHOUSE: Schema = Schema {
    name: "warehouse",
    postgres: "w_id int NOT NULL, w_name varchar(10) NOT NULL, w_street_1 varchar(20) NOT NULL, \
               w_street_2 varchar(20) NOT NULL, w_city varchar(20) NOT NULL, w_state char(2) NOT NULL, \
               w_zip char(9) NOT NULL, w_tax numeric(4,4) NOT NULL, w_ytd numeric(16,2) NOT NULL",
    mysql: "w_id int NOT NULL, w_ytd decimal(12,2), w_tax decimal(4,4), w_name varchar(10), w_street_1 varchar(20), \
            w_street_2 varchar(20), w_city varchar(20), w_state char(2), w_zip char(9)",
    key: "w_id",
    index: None,
    fields: "w_id, w_ytd, w_tax, w_name, w_street_1, w_street_2, w_city, w_state, w_zip",
};
