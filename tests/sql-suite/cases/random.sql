CREATE TABLE a (id INT AUTO_INCREMENT PRIMARY KEY, i INT, u INT UNSIGNED, s SMALLINT, d DECIMAL(10,2), f DOUBLE, t VARCHAR(20), v TEXT, b BOOL, e ENUM('one','two','three'), da DATE, dt DATETIME, KEY (i), KEY (t));
CREATE TABLE o (id INT AUTO_INCREMENT PRIMARY KEY, a_id INT, n INT, KEY (a_id));
INSERT INTO a (i, u, s, d, f, t, v, b, e, da, dt) VALUES
 (1, 1, -5, 1.50, 0.5, 'abc', 'blue', 1, 'one', '2024-02-29', '2024-02-29 10:00:00'),
 (2, 100, 7, -2.25, 1e10, 'ABC', 'Bär', 0, 'two', '2023-12-31', '2023-12-31 23:59:59'),
 (7, 4000000000, 0, 0.00, -3.25, 'äbc', '', 1, 'three', '1999-01-01', '1999-01-01 00:00:00'),
 (-3, 5, 32767, 99999.99, 0, 'b', NULL, NULL, 'one', NULL, NULL),
 (NULL, NULL, NULL, NULL, NULL, NULL, 'text with b', 1, NULL, '2024-03-01', '2024-03-01 12:30:45'),
 (0, 0, 1, 10.10, 2.5, '', 'x', 0, 'two', '2024-02-29', '2025-01-01 00:00:00'),
 (2147483647, 42, -32768, 0.01, 100, 'zz', 'AbC', 1, 'three', '2000-02-29', '2000-02-29 00:00:01');
INSERT INTO o (a_id, n) VALUES (1, 0), (1, 1), (2, 2), (3, 3), (3, 1), (6, 0), (9, 2), (NULL, 5);
-- generate random600
-- prepared
-- generate random150
