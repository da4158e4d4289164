//! MySQL's and MariaDB's own on the timed path: parameters without their types, and what a deadlock leaves of a
//! transaction.

use rqps_testkit::PATIENCE;
use rqps_wire::{ParameterType, Reply, TransactionStatus, wait_readable};

use super::shared;

#[test]
fn many_parameters_are_one_statement() {
    for server in shared() {
        let mut session = server.session();
        let marks = vec!["?"; 1000].join(",");
        let sql = format!("select 1 from dual where 999 in ({marks})");
        let mut find = session.prepare(&sql, &[ParameterType::Int4; 1000]).unwrap();
        for slot in 0..1000 {
            find.set_i32(slot, i32::try_from(slot).unwrap());
        }
        for last in [999, 0, 999, 0] {
            find.set_i32(999, last);
            let reply = session.run(&find).unwrap();
            assert_eq!((reply.rows, reply.error), (u64::from(last == 999), None));
        }
        // The values, a bit each for NULL, and a few bytes more; no types.
        let bytes = find.request_bytes();
        assert!(bytes < 4000 + 125 + 20, "{bytes}");
    }
}

#[test]
fn the_victim_of_a_deadlock_rolls_back_and_may_try_again() {
    for server in shared() {
        let mut sessions = [server.session(), server.session()];
        sessions[0]
            .execute("create table if not exists two (id int primary key, v int) engine=innodb; replace into two values (1, 0), (2, 0)")
            .unwrap();
        let mut statements = Vec::new();
        for session in &mut sessions {
            session.execute("begin").unwrap();
            let sql = [1, 2].map(|id| format!("update two set v = v + 1 where id = {id}"));
            statements.push(sql.map(|sql| session.prepare(&sql, &[]).unwrap()));
        }
        assert_eq!(sessions[0].run(&statements[0][0]).unwrap().error, None);
        assert_eq!(sessions[1].run(&statements[1][1]).unwrap().error, None);
        sessions[0].submit(&statements[0][1]).unwrap();
        sessions[1].submit(&statements[1][0]).unwrap();
        let mut replies = Vec::new();
        for session in &mut sessions {
            loop {
                assert!(wait_readable(&*session, Some(PATIENCE)).unwrap());
                if let Some(reply) = session.receive().unwrap() {
                    replies.push(reply);
                    break;
                }
            }
        }
        let (victims, winners): (Vec<Reply>, Vec<Reply>) = replies.into_iter().partition(|reply| reply.error.is_some());
        assert_eq!((victims.len(), winners.len()), (1, 1));
        let code = victims[0].error.unwrap();
        assert_eq!((code.to_string().as_str(), code.is_transient()), ("1213 (40001)", true));
        // Whether the server has rolled back already, its error does not say.
        assert_eq!(victims[0].in_transaction, TransactionStatus::InTransaction);
        assert_eq!(winners[0].in_transaction, TransactionStatus::InTransaction);
    }
}
