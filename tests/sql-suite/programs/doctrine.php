<?php
/* SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The ephpm developers
 *
 * What Doctrine does with a database: schema made, read back and compared, entities, queries,
 * transactions, locks, and Symfony's session handler and lock store. See report.php.
 */
declare(strict_types=1);

require __DIR__ . '/report.php';
foreach (['Doctrine/ORM/autoload.php', 'Doctrine/DBAL/autoload.php', 'Symfony/Component/Cache/autoload.php', 'Symfony/Component/HttpFoundation/autoload.php', 'Symfony/Component/Lock/autoload.php'] as $file) {
    if (!stream_resolve_include_path($file)) {
        echo "skipped: there is no $file\n";
        exit(0);
    }
    require_once $file;
}

use Doctrine\DBAL\DriverManager;
use Doctrine\DBAL\LockMode;
use Doctrine\DBAL\Schema\Comparator;
use Doctrine\DBAL\Schema\Schema;
use Doctrine\ORM\EntityManager;
use Doctrine\ORM\Mapping as ORM;
use Doctrine\ORM\ORMSetup;
use Doctrine\ORM\Tools\SchemaTool;
use Doctrine\ORM\Tools\Pagination\Paginator;

#[ORM\Entity, ORM\Table(name: 'author')]
class Author
{
    #[ORM\Id, ORM\GeneratedValue, ORM\Column(type: 'integer')]
    public ?int $id = null;
    #[ORM\Column(length: 80, unique: true)]
    public string $name;
    #[ORM\Column(type: 'decimal', precision: 10, scale: 2)]
    public string $balance = '0.00';
    #[ORM\Column(type: 'json', nullable: true)]
    public ?array $settings = null;
    #[ORM\OneToMany(mappedBy: 'author', targetEntity: Book::class, cascade: ['persist', 'remove'])]
    public $books;
    #[ORM\Version, ORM\Column(type: 'integer')]
    public int $version = 1;

    public function __construct(string $name)
    {
        $this->name = $name;
        $this->books = new Doctrine\Common\Collections\ArrayCollection();
    }
}

#[ORM\Entity, ORM\Table(name: 'book'), ORM\Index(columns: ['published', 'title'], name: 'published_title')]
class Book
{
    #[ORM\Id, ORM\GeneratedValue, ORM\Column(type: 'bigint', options: ['unsigned' => true])]
    public ?string $id = null;
    #[ORM\Column]
    public string $title;
    #[ORM\Column(type: 'text', nullable: true)]
    public ?string $summary = null;
    #[ORM\Column(type: 'datetime_immutable', nullable: true)]
    public ?DateTimeImmutable $published = null;
    #[ORM\Column(type: 'boolean', options: ['default' => true])]
    public bool $available = true;
    #[ORM\Column(type: 'float', nullable: true)]
    public ?float $price = null;
    #[ORM\Column(type: 'guid', nullable: true)]
    public ?string $guid = null;
    #[ORM\Column(type: 'simple_array', nullable: true)]
    public ?array $tags = null;
    #[ORM\Column(type: 'blob', nullable: true)]
    public $cover = null;
    #[ORM\ManyToOne(inversedBy: 'books'), ORM\JoinColumn(nullable: false, onDelete: 'CASCADE')]
    public Author $author;
    #[ORM\ManyToMany(targetEntity: Shelf::class), ORM\JoinTable(name: 'book_shelf'), ORM\InverseJoinColumn(name: 'shelf_code', referencedColumnName: 'code')]
    public $shelves;

    public function __construct(string $title, Author $author)
    {
        [$this->title, $this->author] = [$title, $author];
        $this->shelves = new Doctrine\Common\Collections\ArrayCollection();
    }
}

#[ORM\Entity, ORM\Table(name: 'shelf')]
class Shelf
{
    #[ORM\Id, ORM\Column(length: 20)]
    public string $code;
    #[ORM\Column(type: 'smallint')]
    public int $floor = 0;
}

$connection = DriverManager::getConnection([
    'driver' => 'pdo_mysql', 'unix_socket' => getenv('DB_SOCKET'), 'dbname' => getenv('DB_NAME'), 'charset' => 'utf8mb4',
    'user' => getenv('DB_USER'), 'password' => (string) getenv('DB_PASSWORD'),
]);
$config = ORMSetup::createAttributeMetadataConfiguration([], true, sys_get_temp_dir());
$em = EntityManager::create($connection, $config);
$tool = new SchemaTool($em);
$classes = array_map($em->getClassMetadata(...), [Author::class, Book::class, Shelf::class]);
$manager = $connection->createSchemaManager();

step('create schema', fn() => $tool->createSchema($classes));
step('schema is what the mapping says', fn() => $tool->getUpdateSchemaSql($classes));
step('tables', function () use ($manager) {
    $names = array_map(fn($t) => $t->getName(), $manager->listTables());
    sort($names);
    return $names;
});
step('columns of book', fn() => array_map(fn($c) => [$c->getType()::class, $c->getLength(), $c->getNotnull(), $c->getDefault(), $c->getUnsigned(), $c->getAutoincrement()], $manager->listTableColumns('book')));
step('indexes of book', function () use ($manager) {
    $all = array_map(fn($i) => [$i->getColumns(), $i->isUnique(), $i->isPrimary()], $manager->listTableIndexes('book'));
    ksort($all);
    return $all;
});
step('foreign keys of book', fn() => array_map(fn($f) => [$f->getLocalColumns(), $f->getForeignTableName(), $f->getForeignColumns(), $f->onDelete()], $manager->listTableForeignKeys('book')));
step('persist', function () use ($em) {
    foreach (['Ann' => ['One', 'Two'], 'Bob' => ['Three']] as $name => $titles) {
        $author = new Author($name);
        $author->settings = ['k' => [1, 'ä']];
        foreach ($titles as $i => $title) {
            $book = new Book($title, $author);
            $book->price = 9.5 + $i;
            $book->published = new DateTimeImmutable("2024-0" . ($i + 1) . "-15 10:00:00");
            $book->tags = ['x', 'y'];
            $book->cover = "\0\1\xff";
            $author->books->add($book);
        }
        $em->persist($author);
    }
    $shelf = new Shelf();
    $shelf->code = 'A1';
    $em->persist($shelf);
    $em->flush();
    $em->find(Book::class, 1)->shelves->add($shelf);
    $em->flush();
    $em->clear();
    return $em->getRepository(Author::class)->count([]);
});
step('read back', function () use ($em) {
    $book = $em->find(Book::class, 1);
    return [$book->title, $book->price, $book->available, $book->published->format('c'), $book->tags, bin2hex(stream_get_contents($book->cover)), $book->author->name, $book->author->settings, count($book->shelves), $book->author->balance];
});
step('find by', fn() => array_map(fn($b) => $b->title, $em->getRepository(Book::class)->findBy(['available' => true], ['title' => 'DESC'], 2, 1)));
step('dql join', fn() => $em->createQuery('SELECT a.name, COUNT(b.id) AS n, MAX(b.price) AS p FROM Author a LEFT JOIN a.books b GROUP BY a.id, a.name ORDER BY a.name')->getResult());
step('dql functions', fn() => $em->createQuery("SELECT CONCAT(b.title, '-', b.id) AS c, LENGTH(b.title) AS l, UPPER(b.title) AS u, SUBSTRING(b.title, 2, 2) AS s, DATE_ADD(b.published, 3, 'day') AS d, DATE_DIFF(b.published, '2024-01-01') AS f, MOD(b.id, 2) AS m, LOCATE('e', b.title) AS o, ABS(b.price) AS a, TRIM(b.title) AS t FROM Book b ORDER BY b.id")->getResult());
step('dql update', fn() => $em->createQuery("UPDATE Book b SET b.price = b.price + 1 WHERE b.title LIKE 'T%'")->execute());
step('dql in, between, exists', fn() => $em->createQuery("SELECT b.title FROM Book b WHERE b.price BETWEEN 5 AND 20 AND b.id IN (1, 3) AND EXISTS (SELECT 1 FROM Author a WHERE a = b.author) ORDER BY b.id")->getScalarResult());
step('paginator', function () use ($em) {
    $p = new Paginator($em->createQuery('SELECT a, b FROM Author a JOIN a.books b ORDER BY a.id')->setFirstResult(0)->setMaxResults(1));
    return [count($p), array_map(fn($a) => [$a->name, count($a->books)], iterator_to_array($p))];
});
step('optimistic lock', function () use ($em) {
    $em->clear();
    $author = $em->find(Author::class, 1, LockMode::OPTIMISTIC, 1);
    $author->balance = '12.34';
    $em->flush();
    return [$author->version, $em->getConnection()->fetchOne('SELECT balance FROM author WHERE id = 1')];
});
step('pessimistic lock', fn() => $em->wrapInTransaction(fn() => [$em->find(Author::class, 1, LockMode::PESSIMISTIC_WRITE)->name, $em->find(Author::class, 2, LockMode::PESSIMISTIC_READ)->name]));
step('unique violation', fn() => $connection->insert('author', ['name' => 'Ann', 'balance' => 0, 'version' => 1]));
step('foreign key violation', fn() => $connection->insert('book', ['title' => 'x', 'author_id' => 99]));
step('not null violation', fn() => $connection->insert('book', ['title' => null, 'author_id' => 1]));
step('table not found', fn() => $connection->fetchAllAssociative('SELECT * FROM nope'));
step('syntax error', fn() => $connection->fetchAllAssociative('SELEC 1'));
step('savepoints', function () use ($connection) {
    $connection->setNestTransactionsWithSavepoints(true);
    $connection->beginTransaction();
    $connection->insert('shelf', ['code' => 'B1', 'floor' => 1]);
    $connection->beginTransaction();
    $connection->insert('shelf', ['code' => 'B2', 'floor' => 2]);
    $connection->rollBack();
    $connection->commit();
    return $connection->fetchFirstColumn('SELECT code FROM shelf ORDER BY code');
});
step('query builder', fn() => $connection->createQueryBuilder()->select('b.title', 'a.name')->from('book', 'b')->innerJoin('b', 'author', 'a', 'a.id = b.author_id')->where('b.price > :p')->setParameter('p', 9.5)->orderBy('b.id')->setFirstResult(1)->setMaxResults(5)->fetchAllAssociative());
step('offset alone', fn() => $connection->createQueryBuilder()->select('id')->from('book')->orderBy('id')->setFirstResult(1)->fetchFirstColumn());
step('list parameters', fn() => $connection->fetchFirstColumn('SELECT title FROM book WHERE id IN (?) ORDER BY id', [[1, 2]], [Doctrine\DBAL\ArrayParameterType::INTEGER ?? 101]));
step('typed values', fn() => array_map('gettype', $connection->fetchAssociative('SELECT id, price, available, title, published FROM book WHERE id = 1')));
step('alter schema', function () use ($connection, $manager) {
    $from = $manager->introspectSchema();
    $to = clone $from;
    $book = $to->getTable('book');
    $book->addColumn('pages', 'integer', ['notnull' => false, 'comment' => "It's"]);
    $book->changeColumn('title', ['length' => 100]);
    $book->dropColumn('guid');
    $book->addIndex(['pages'], 'pages_idx');
    $to->dropTable('book_shelf');
    $diff = $manager->createComparator()->compareSchemas($from, $to);
    $sql = $connection->getDatabasePlatform()->getAlterSchemaSQL($diff);
    foreach ($sql as $one) {
        $connection->executeStatement($one);
    }
    $now = $manager->introspectTable('book');
    return [count($sql), $now->getColumn('pages')->getComment(), $now->getColumn('title')->getLength(), $now->hasColumn('guid'), $now->hasIndex('pages_idx')];
});
step('rows are still there', fn() => $connection->fetchAllAssociative('SELECT id, title, price, pages FROM book ORDER BY id'));
step('views', function () use ($manager, $connection) {
    $manager->createView(new Doctrine\DBAL\Schema\View('titles', 'SELECT title FROM book'));
    $out = [array_map(fn($v) => $v->getName(), array_values($manager->listViews())), $connection->fetchFirstColumn('SELECT title FROM titles ORDER BY title')];
    $manager->dropView('titles');
    return $out;
});
step('sessions', function () {
    $dsn = 'mysql:unix_socket=' . getenv('DB_SOCKET') . ';dbname=' . getenv('DB_NAME');
    $make = fn(int $mode) => new Symfony\Component\HttpFoundation\Session\Storage\Handler\PdoSessionHandler($dsn, ['db_username' => getenv('DB_USER'), 'db_password' => (string) getenv('DB_PASSWORD'), 'lock_mode' => $mode]);
    $out = [];
    foreach ([0, 1, 2] as $mode) {
        $handler = $make($mode);
        if ($mode === 0) {
            $handler->createTable();
        }
        $handler->open('', 'sid');
        $out[] = $handler->read('abc');
        $out[] = $handler->write('abc', "data $mode");
        $out[] = $handler->close();
    }
    $handler->open('', 'sid');
    $out[] = $handler->destroy('abc');
    $handler->close();
    return $out;
});
step('locks', function () {
    $dsn = 'mysql:unix_socket=' . getenv('DB_SOCKET') . ';dbname=' . getenv('DB_NAME');
    $store = new Symfony\Component\Lock\Store\PdoStore($dsn, ['db_username' => getenv('DB_USER'), 'db_password' => (string) getenv('DB_PASSWORD')]);
    $factory = new Symfony\Component\Lock\LockFactory($store);
    [$a, $b] = [$factory->createLock('x'), $factory->createLock('x')];
    $out = [$a->acquire(), $b->acquire()];
    $a->release();
    return [...$out, $b->acquire(), $b->release()];
});
step('remove', function () use ($em) {
    $em->clear();
    $em->getConnection()->executeStatement('DELETE FROM author WHERE name = ?', ['Bob']);
    return [$em->getConnection()->fetchOne('SELECT COUNT(*) FROM book'), $em->getConnection()->fetchOne('SELECT COUNT(*) FROM author')];
});
step('drop schema', fn() => $tool->dropSchema($classes));
step('rest', fn() => array_map(fn($t) => $t->getName(), $manager->listTables()));
step('drop the rest', fn() => array_map(fn($t) => $connection->executeStatement("DROP TABLE $t"), ['sessions', 'lock_keys']));
