-- For `data.only`: the same on MySQL and MariaDB.
DROP INDEX orders_customer ON orders;
