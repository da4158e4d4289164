-- A few rows of our own for the tables of Sakila, and objects that break other loaders.
SET NAMES utf8mb4;
SET foreign_key_checks = 0, sql_mode = '';
INSERT INTO language (name) VALUES ('English'), ('Français');
INSERT INTO category (name) VALUES ('Action'), ('Drama; slow');
INSERT INTO actor (first_name, last_name) VALUES ('Penélope', 'O''Guiness'), ('Nick', 'Wahl\\berg'), ('DEFINER=`x`@`y`', 'Chase');
INSERT INTO country (country) VALUES ('Deutschland'), ('日本');
INSERT INTO city (city, country_id) VALUES ('Köln', 1), ('東京', 2);
INSERT INTO address (address, district, city_id, phone) VALUES ('1 Main\tStreet', '', 1, '0'), ('2 "Main" Street', '', 2, '0');
INSERT INTO store (manager_staff_id, address_id) VALUES (1, 1), (2, 2);
INSERT INTO staff (first_name, last_name, address_id, store_id, username, picture) VALUES ('Mike', 'Hill', 1, 1, 'mike', x'00ff5c27'), ('Jon', 'Stephens', 2, 2, 'jon', NULL);
INSERT INTO customer (store_id, first_name, last_name, address_id, create_date) VALUES (1, 'Mary', 'Smith', 1, '0000-00-00 00:00:00'), (2, 'Linda', 'Jones', 2, '2006-02-14 22:04:36');
INSERT INTO film (title, description, language_id, rating, special_features) VALUES ('Academy Dinosaur', 'A film\nof two lines;', 1, 'PG', 'Trailers,Commentaries'), ('Ace Goldfinger', NULL, 1, 'G', '');
INSERT INTO film_actor (actor_id, film_id) VALUES (1, 1), (2, 1), (3, 2);
INSERT INTO film_category (film_id, category_id) VALUES (1, 1), (2, 2);
INSERT INTO inventory (film_id, store_id) VALUES (1, 1), (2, 2);
INSERT INTO rental (rental_date, inventory_id, customer_id, staff_id) VALUES ('2005-05-24 22:53:30', 1, 1, 1), ('2005-05-24 22:54:33', 2, 2, 2);
INSERT INTO payment (customer_id, staff_id, rental_id, amount, payment_date) VALUES (1, 1, 1, 2.99, '2005-05-25 11:30:37'), (2, 2, 2, 0.99, '2005-05-28 10:35:23');
CREATE TABLE places (id int PRIMARY KEY, place geometry NOT NULL, SPATIAL KEY (place)) ENGINE = InnoDB;
INSERT INTO places VALUES (1, ST_GeomFromText('POINT(6.95 50.93)'));
DELIMITER $$
CREATE DEFINER = `app`@`%` EVENT tidy ON SCHEDULE EVERY 1 DAY STARTS '2037-01-01 00:00:00' DO BEGIN /* nothing; yet */ DELETE FROM payment WHERE amount < 0; END $$
CREATE DEFINER = `app`@`%` TRIGGER look BEFORE INSERT ON payment FOR EACH ROW BEGIN
    -- it's a check
    IF NEW.amount < 0 THEN SET NEW.amount = 0; END IF;
END $$
DELIMITER ;
