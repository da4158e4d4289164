-- The routines on MySQL and MariaDB: procedures that begin and end their transactions, but for those that are executed
-- to be taken back. `[...]` lines are there by quirk (see script.rs). After an error nothing stays open: the procedure
-- rolls back and passes the error on.

== drop_new_order
DROP PROCEDURE IF EXISTS tproc_new_order

== new_order
CREATE PROCEDURE tproc_new_order(p_w int, p_d int, p_c int, p_ol_cnt int,
[!server-draws] p_all_local int, p_lines varchar(256),
[server-draws] p_warehouses int,
OUT p_o int)
BEGIN
  DECLARE v_n, v_item, v_supply, v_quantity, v_left, v_next int;
[server-draws]   DECLARE p_all_local int DEFAULT 1;
  DECLARE v_discount, v_w_tax, v_d_tax decimal(4,4);
  DECLARE v_price decimal(5,2);
  DECLARE v_amount decimal(6,2);
  DECLARE v_total decimal(12,2) DEFAULT 0;
  DECLARE v_last, v_name, v_data varchar(50);
  DECLARE v_credit char(2);
  DECLARE v_info char(24);
[district-texts]   DECLARE v_01, v_02, v_03, v_04, v_05, v_06, v_07, v_08, v_09, v_10 char(24);
  DECLARE EXIT HANDLER FOR NOT FOUND BEGIN ROLLBACK; SET p_o = 0; END;
  DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN ROLLBACK; RESIGNAL; END;
[!taken-back]   START TRANSACTION;
  SELECT c_discount, c_last, c_credit, w_tax INTO v_discount, v_last, v_credit, v_w_tax
  FROM customer, warehouse WHERE w_id = p_w AND c_w_id = p_w AND c_d_id = p_d AND c_id = p_c;
  SELECT d_next_o_id, d_tax INTO v_next, v_d_tax FROM district WHERE d_w_id = p_w AND d_id = p_d FOR UPDATE;
  UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = p_w AND d_id = p_d;
  SET v_n = 1;
  WHILE v_n <= p_ol_cnt DO
[!server-draws]     SET v_item = SUBSTRING(p_lines, 17 * v_n - 15, 6);
[!server-draws]     SET v_supply = SUBSTRING(p_lines, 17 * v_n - 8, 6);
[!server-draws]     SET v_quantity = SUBSTRING(p_lines, 17 * v_n - 1, 2);
[server-draws]     SET v_item = FLOOR(1 + RAND() * 100000);
-- One of 99, not of 100.
[server-draws]     IF v_n = p_ol_cnt AND FLOOR(1 + RAND() * 99) = 1 THEN SET v_item = 100001; END IF;
[server-draws]     SET v_supply = p_w;
[server-draws]     IF FLOOR(1 + RAND() * 100) = 1 THEN
-- A single warehouse supplies itself, and counts as remote.
[server-draws]       SET p_all_local = 0;
[server-draws]       WHILE v_supply = p_w AND p_warehouses > 1 DO
[server-draws]         SET v_supply = FLOOR(1 + RAND() * p_warehouses);
[server-draws]       END WHILE;
[server-draws]     END IF;
[server-draws]     SET v_quantity = FLOOR(1 + RAND() * 10);
    SELECT i_price, i_name, i_data INTO v_price, v_name, v_data FROM item WHERE i_id = v_item;
    SELECT s_quantity, s_data,
[!district-texts]       ELT(p_d,
      s_dist_01, s_dist_02, s_dist_03, s_dist_04, s_dist_05, s_dist_06, s_dist_07, s_dist_08, s_dist_09, s_dist_10
[!district-texts]       )
    INTO v_left, v_data,
[!district-texts]       v_info
[district-texts]       v_01, v_02, v_03, v_04, v_05, v_06, v_07, v_08, v_09, v_10
    FROM stock WHERE s_i_id = v_item AND s_w_id = v_supply
[!unlocked-reads]     FOR UPDATE
    ;
[district-texts]     CASE p_d
[district-texts]       WHEN 1 THEN SET v_info = v_01; WHEN 2 THEN SET v_info = v_02; WHEN 3 THEN SET v_info = v_03;
[district-texts]       WHEN 4 THEN SET v_info = v_04; WHEN 5 THEN SET v_info = v_05; WHEN 6 THEN SET v_info = v_06;
[district-texts]       WHEN 7 THEN SET v_info = v_07; WHEN 8 THEN SET v_info = v_08; WHEN 9 THEN SET v_info = v_09;
[district-texts]       ELSE SET v_info = v_10;
[district-texts]     END CASE;
    SET v_left = IF(v_left >= v_quantity + 10, v_left - v_quantity, v_left - v_quantity + 91);
    UPDATE stock SET s_quantity = v_left
[!missing-counters]     , s_ytd = s_ytd + v_quantity, s_order_cnt = s_order_cnt + 1
[!missing-counters]     , s_remote_cnt = s_remote_cnt + IF(v_supply = p_w, 0, 1)
    WHERE s_i_id = v_item AND s_w_id = v_supply;
    SET v_amount = v_quantity * v_price
[taxed-amounts]     * (1 + v_w_tax + v_d_tax) * (1 - v_discount)
    ;
    INSERT INTO order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_quantity, ol_amount,
                            ol_dist_info)
    VALUES (v_next, p_d, p_w, v_n, v_item, v_supply, v_quantity, v_amount, v_info);
    SET v_total = v_total + v_amount, v_n = v_n + 1;
  END WHILE;
  INSERT INTO orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_ol_cnt, o_all_local)
  VALUES (v_next, p_d, p_w, p_c, CURRENT_TIMESTAMP, p_ol_cnt, p_all_local);
  INSERT INTO new_order (no_o_id, no_d_id, no_w_id) VALUES (v_next, p_d, p_w);
[!taxed-amounts]   SET v_total = v_total * (1 + v_w_tax + v_d_tax) * (1 - v_discount);
[!taken-back]   COMMIT;
  SET p_o = v_next;
END

== drop_payment
DROP PROCEDURE IF EXISTS tproc_payment

== payment
CREATE PROCEDURE tproc_payment(p_w int, p_d int, p_c_w int, p_c_d int, p_c int, p_by_name int, p_last varchar(16),
p_cents bigint, OUT p_balance decimal(12,2))
BEGIN
  DECLARE v_amount decimal(12,2) DEFAULT p_cents * 0.01;
  DECLARE v_c int DEFAULT p_c;
  DECLARE v_count int;
  DECLARE v_balance decimal(12,2);
  DECLARE v_w_name, v_d_name varchar(10);
  DECLARE v_street_1, v_street_2, v_city varchar(20);
  DECLARE v_state, v_credit char(2);
  DECLARE v_zip char(9);
  DECLARE v_data varchar(500);
  DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN ROLLBACK; RESIGNAL; END;
[!taken-back]   START TRANSACTION;
  UPDATE warehouse SET w_ytd = w_ytd + v_amount WHERE w_id = p_w;
  SELECT w_name, w_street_1, w_street_2, w_city, w_state, w_zip
  INTO v_w_name, v_street_1, v_street_2, v_city, v_state, v_zip FROM warehouse WHERE w_id = p_w;
  UPDATE district SET d_ytd = d_ytd + v_amount WHERE d_w_id = p_w AND d_id = p_d;
  SELECT d_name, d_street_1, d_street_2, d_city, d_state, d_zip
  INTO v_d_name, v_street_1, v_street_2, v_city, v_state, v_zip FROM district WHERE d_w_id = p_w AND d_id = p_d;
  IF p_by_name = 1 THEN
    SELECT COUNT(c_id) INTO v_count FROM customer WHERE c_w_id = p_c_w AND c_d_id = p_c_d AND c_last = p_last;
[!name-row-off]     SET v_count = GREATEST((v_count + 1) DIV 2 - 1, 0);
-- One row behind, or the last.
[name-row-off]     SET v_count = GREATEST(LEAST((v_count + 1) DIV 2, v_count - 1), 0);
    SELECT c_id INTO v_c FROM customer WHERE c_w_id = p_c_w AND c_d_id = p_c_d AND c_last = p_last
    ORDER BY c_first LIMIT v_count, 1;
  END IF;
  SELECT c_balance, c_credit, c_data INTO v_balance, v_credit, v_data FROM customer
  WHERE c_w_id = p_c_w AND c_d_id = p_c_d AND c_id = v_c
[!unlocked-reads]   FOR UPDATE
  ;
[!added-payment]   SET v_balance = v_balance - v_amount;
[added-payment]   SET v_balance = v_balance + v_amount;
  IF v_credit = 'BC' THEN
    SET v_data = LEFT(CONCAT(v_c, ' ', p_c_d, ' ', p_c_w, ' ', p_d, ' ', p_w, ' ', v_amount, '|', v_data), 500);
    UPDATE customer SET c_balance = v_balance, c_data = v_data
[!missing-counters]     , c_ytd_payment = c_ytd_payment + v_amount, c_payment_cnt = c_payment_cnt + 1
    WHERE c_w_id = p_c_w AND c_d_id = p_c_d AND c_id = v_c;
  ELSE
    UPDATE customer SET c_balance = v_balance
[!missing-counters]     , c_ytd_payment = c_ytd_payment + v_amount, c_payment_cnt = c_payment_cnt + 1
    WHERE c_w_id = p_c_w AND c_d_id = p_c_d AND c_id = v_c;
  END IF;
  INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data)
  VALUES (v_c, p_c_d, p_c_w, p_d, p_w, CURRENT_TIMESTAMP, v_amount, CONCAT(v_w_name, '    ', v_d_name));
[!taken-back]   COMMIT;
  SET p_balance = v_balance;
END

== drop_delivery
DROP PROCEDURE IF EXISTS tproc_delivery

== delivery
CREATE PROCEDURE tproc_delivery(p_w int, p_carrier int, OUT p_delivered int)
BEGIN
  DECLARE v_d int DEFAULT 1;
  DECLARE v_delivered int DEFAULT 0;
  DECLARE v_o, v_c int;
  DECLARE v_amount
[!integer-amounts]   decimal(12,2);
[integer-amounts]   int;
-- A district without a new order changes nothing.
  DECLARE CONTINUE HANDLER FOR NOT FOUND BEGIN END;
  DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN ROLLBACK; RESIGNAL; END;
[!taken-back]   START TRANSACTION;
  WHILE v_d <= 10 DO
[!unchecked-delivery]     SET v_o = NULL;
    SELECT no_o_id INTO v_o FROM new_order WHERE no_w_id = p_w AND no_d_id = v_d
[!unchecked-delivery]     ORDER BY no_o_id
    LIMIT 1
[!unchecked-delivery]     FOR UPDATE
    ;
    IF v_o IS NOT NULL THEN
      DELETE FROM new_order WHERE no_w_id = p_w AND no_d_id = v_d AND no_o_id = v_o;
      UPDATE orders SET o_carrier_id = p_carrier WHERE o_w_id = p_w AND o_d_id = v_d AND o_id = v_o;
-- Behind the update: a snapshot that is older than the order shows it all the same, since we changed it.
      SELECT o_c_id INTO v_c FROM orders WHERE o_w_id = p_w AND o_d_id = v_d AND o_id = v_o;
      UPDATE order_line SET ol_delivery_d = CURRENT_TIMESTAMP WHERE ol_w_id = p_w AND ol_d_id = v_d AND ol_o_id = v_o;
      SELECT SUM(ol_amount) INTO v_amount FROM order_line WHERE ol_w_id = p_w AND ol_d_id = v_d AND ol_o_id = v_o;
      UPDATE customer SET c_balance = c_balance + IFNULL(v_amount, 0)
[!missing-counters]       , c_delivery_cnt = c_delivery_cnt + 1
      WHERE c_w_id = p_w AND c_d_id = v_d AND c_id = v_c;
      SET v_delivered = v_delivered + 1;
    END IF;
    SET v_d = v_d + 1;
  END WHILE;
[!taken-back]   COMMIT;
  SET p_delivered = v_delivered;
END

== drop_order_status
DROP PROCEDURE IF EXISTS tproc_order_status

== order_status
CREATE PROCEDURE tproc_order_status(p_w int, p_d int, p_c int, p_by_name int, p_last varchar(16), OUT p_order text)
BEGIN
  DECLARE v_c int DEFAULT p_c;
  DECLARE v_count, v_o, v_carrier int;
  DECLARE v_entry datetime;
  DECLARE v_customer varchar(100);
  DECLARE CONTINUE HANDLER FOR NOT FOUND BEGIN END;
  DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN ROLLBACK; RESIGNAL; END;
[!taken-back]   START TRANSACTION;
  IF p_by_name = 1 THEN
    SELECT COUNT(c_id) INTO v_count FROM customer WHERE c_w_id = p_w AND c_d_id = p_d AND c_last = p_last;
[!name-row-off]     SET v_count = GREATEST((v_count + 1) DIV 2 - 1, 0);
[name-row-off]     SET v_count = GREATEST(LEAST((v_count + 1) DIV 2, v_count - 1), 0);
    SELECT c_id INTO v_c FROM customer WHERE c_w_id = p_w AND c_d_id = p_d AND c_last = p_last
    ORDER BY c_first LIMIT v_count, 1;
  END IF;
  SELECT CONCAT(c_first, ' ', c_middle, ' ', c_last, ' ', c_balance) INTO v_customer FROM customer
  WHERE c_w_id = p_w AND c_d_id = p_d AND c_id = v_c;
  SELECT o_id, o_carrier_id, o_entry_d INTO v_o, v_carrier, v_entry FROM orders
  WHERE o_w_id = p_w AND o_d_id = p_d AND o_c_id = v_c ORDER BY o_id DESC LIMIT 1;
  SELECT CONCAT_WS(' ', v_customer, v_o, v_carrier, v_entry, GROUP_CONCAT(CONCAT_WS(' ', ol_i_id, ol_supply_w_id,
                   ol_quantity, ol_amount, ol_delivery_d)))
  INTO p_order FROM order_line WHERE ol_w_id = p_w AND ol_d_id = p_d AND ol_o_id = v_o;
[!taken-back]   COMMIT;
END

== drop_stock_level
DROP PROCEDURE IF EXISTS tproc_stock_level

== stock_level
CREATE PROCEDURE tproc_stock_level(p_w int, p_d int, p_threshold int, OUT p_low int)
BEGIN
  DECLARE v_next int;
  DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN ROLLBACK; RESIGNAL; END;
[!taken-back]   START TRANSACTION;
  SELECT d_next_o_id INTO v_next FROM district WHERE d_w_id = p_w AND d_id = p_d;
  SELECT COUNT(DISTINCT s_i_id) INTO p_low FROM order_line, stock
  WHERE ol_w_id = p_w AND ol_d_id = p_d AND ol_o_id < v_next AND ol_o_id >= v_next - 20
  AND s_w_id = p_w AND s_i_id = ol_i_id AND s_quantity < p_threshold;
[!taken-back]   COMMIT;
END
