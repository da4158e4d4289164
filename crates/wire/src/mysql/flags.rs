//! Numbers of the protocol, named as the manual names them. Nothing but constants.

/// What client and server can do ("Capabilities Flags"); those that we know of.
pub(crate) mod capability {
    /// Set by clients of MySQL; without it MariaDB reads further flags of its own.
    pub(crate) const LONG_PASSWORD: u32 = 1;
    pub(crate) const LONG_FLAG: u32 = 1 << 2;
    pub(crate) const CONNECT_WITH_DB: u32 = 1 << 3;
    pub(crate) const LOCAL_FILES: u32 = 1 << 7;
    pub(crate) const PROTOCOL_41: u32 = 1 << 9;
    pub(crate) const SSL: u32 = 1 << 11;
    pub(crate) const TRANSACTIONS: u32 = 1 << 13;
    pub(crate) const SECURE_CONNECTION: u32 = 1 << 15;
    pub(crate) const MULTI_STATEMENTS: u32 = 1 << 16;
    pub(crate) const MULTI_RESULTS: u32 = 1 << 17;
    pub(crate) const PLUGIN_AUTH: u32 = 1 << 19;
    pub(crate) const DEPRECATE_EOF: u32 = 1 << 24;
}

/// What the server says about the session with a result ("Status Flags").
pub(crate) mod status {
    pub(crate) const IN_TRANS: u16 = 1;
    pub(crate) const MORE_RESULTS_EXISTS: u16 = 1 << 3;
}

/// First bytes of packets that the server sends.
pub(crate) mod head {
    pub(crate) const OK: u8 = 0x00;
    pub(crate) const AUTH_MORE_DATA: u8 = 0x01;
    pub(crate) const PROTOCOL_9: u8 = 0x09;
    pub(crate) const PROTOCOL_10: u8 = 0x0a;
    pub(crate) const LOCAL_INFILE: u8 = 0xfb;
    /// EOF; with DEPRECATE_EOF an OK that ends rows; in a login an AuthSwitchRequest.
    pub(crate) const EOF: u8 = 0xfe;
    pub(crate) const ERR: u8 = 0xff;
}

/// First bytes of packets that we send.
pub(crate) mod command {
    pub(crate) const QUIT: u8 = 0x01;
    pub(crate) const QUERY: u8 = 0x03;
    pub(crate) const STMT_PREPARE: u8 = 0x16;
    pub(crate) const STMT_EXECUTE: u8 = 0x17;
    pub(crate) const STMT_CLOSE: u8 = 0x19;
}
