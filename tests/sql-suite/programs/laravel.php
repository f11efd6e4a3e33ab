<?php
/* SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The ephpm developers
 *
 * What Laravel does with a database: migrations up and down, Eloquent, the query builder,
 * transactions, the queue in a table. Prints one line of JSON for each step; see report.php.
 */
declare(strict_types=1);

require __DIR__ . '/report.php';
require application('laravel-app') . '/vendor/autoload.php';
@include_once 'Doctrine/DBAL/autoload.php'; // Laravel changes columns with it

use Illuminate\Container\Container;
use Illuminate\Database\Capsule\Manager;
use Illuminate\Database\Eloquent\Model;
use Illuminate\Database\Eloquent\SoftDeletes;
use Illuminate\Database\Schema\Blueprint;
use Illuminate\Events\Dispatcher;
use Illuminate\Queue\DatabaseQueue;

$manager = new Manager();
$manager->addConnection([
    'driver' => 'mysql', 'unix_socket' => getenv('DB_SOCKET'), 'host' => 'localhost', 'database' => getenv('DB_NAME'),
    'username' => getenv('DB_USER'), 'password' => (string) getenv('DB_PASSWORD'), 'charset' => 'utf8mb4',
    'collation' => 'utf8mb4_unicode_ci', 'prefix' => '', 'strict' => true, 'engine' => null,
]);
$container = Container::getInstance();
$manager->setEventDispatcher(new Dispatcher($container));
$manager->setAsGlobal();
$manager->bootEloquent();
$db = $manager->getConnection();
$schema = $db->getSchemaBuilder();

final class User extends Model
{
    protected $guarded = [];
    protected $casts = ['options' => 'array', 'active' => 'bool', 'balance' => 'decimal:2'];

    public function posts()
    {
        return $this->hasMany(Post::class);
    }

    public function roles()
    {
        return $this->belongsToMany(Role::class)->withPivot('level');
    }
}

final class Post extends Model
{
    use SoftDeletes;

    protected $guarded = [];

    public function user()
    {
        return $this->belongsTo(User::class);
    }
}

final class Role extends Model
{
    protected $guarded = [];
    public $timestamps = false;
}

/* Timestamps are those of the run. */
function plain(mixed $models): mixed
{
    $rows = json_decode(json_encode($models), true);
    array_walk_recursive($rows, function (&$v, $k) {
        if (is_string($v) && preg_match('/^20\d\d-\d\d-\d\d[T ]/', $v)) {
            $v = 'time';
        }
    });
    return $rows;
}

step('drop all tables', fn() => $schema->dropAllTables());
step('create users', fn() => $schema->create('users', function (Blueprint $t) {
    $t->id();
    $t->string('name');
    $t->string('email')->unique();
    $t->boolean('active')->default(true);
    $t->decimal('balance', 10, 2)->default(0);
    $t->json('options')->nullable();
    $t->enum('kind', ['person', 'company'])->default('person');
    $t->unsignedTinyInteger('age')->nullable()->index();
    $t->rememberToken();
    $t->timestamps();
}));
step('create posts', fn() => $schema->create('posts', function (Blueprint $t) {
    $t->bigIncrements('id');
    $t->foreignId('user_id')->constrained()->onDelete('cascade');
    $t->string('title', 100);
    $t->text('body')->nullable();
    $t->unsignedInteger('views')->default(0);
    $t->dateTime('published_at')->nullable();
    $t->softDeletes();
    $t->timestamps();
    $t->index(['user_id', 'published_at']);
}));
step('create roles', fn() => $schema->create('roles', function (Blueprint $t) {
    $t->increments('id');
    $t->string('name')->unique();
}));
step('create role_user', fn() => $schema->create('role_user', function (Blueprint $t) {
    $t->unsignedInteger('role_id');
    $t->unsignedBigInteger('user_id');
    $t->integer('level')->default(0);
    $t->primary(['role_id', 'user_id']);
    $t->foreign('role_id')->references('id')->on('roles');
}));
step('create every type', fn() => $schema->create('types', function (Blueprint $t) {
    $t->bigIncrements('id');
    $t->binary('b')->nullable();
    $t->char('c', 4)->nullable();
    $t->date('d')->nullable();
    $t->dateTime('dt', 3)->nullable();
    $t->double('db', 8, 2)->nullable();
    $t->float('f')->nullable();
    $t->ipAddress('ip')->nullable();
    $t->longText('lt')->nullable();
    $t->macAddress('mac')->nullable();
    $t->mediumInteger('mi')->nullable();
    $t->mediumText('mt')->nullable();
    $t->smallInteger('si')->nullable();
    $t->time('tm')->nullable();
    $t->timestamp('ts')->nullable();
    $t->tinyInteger('ti')->nullable();
    $t->unsignedBigInteger('ub')->nullable();
    $t->uuid('u')->nullable();
    $t->year('y')->nullable();
    $t->set('s', ['a', 'b'])->nullable();
    $t->nullableMorphs('thing');
    $t->integer('v')->storedAs('si + 1')->nullable();
}));
step('has table', fn() => [$schema->hasTable('users'), $schema->hasTable('nope')]);
step('has column', fn() => [$schema->hasColumn('users', 'email'), $schema->hasColumns('users', ['id', 'nope'])]);
step('column listing', fn() => $schema->getColumnListing('users'));
step('column type', fn() => [$schema->getColumnType('users', 'name'), $schema->getColumnType('users', 'id')]);

step('create model', fn() => plain(User::create(['name' => 'Ann', 'email' => 'ann@example.org', 'options' => ['a' => 1, 'tags' => ['x', 'y']]])->fresh()));
step('create more', fn() => User::insert([
    ['name' => 'Bob', 'email' => 'bob@example.org', 'age' => 30, 'balance' => '10.50', 'options' => '{"a": 2}'],
    ['name' => 'Cid', 'email' => 'cid@example.org', 'age' => 41, 'balance' => '0.10', 'options' => null],
]));
step('duplicate', fn() => User::create(['name' => 'Ann', 'email' => 'ann@example.org']));
step('find', fn() => plain([User::find(1), User::find(99)]));
step('where', fn() => plain(User::where('age', '>', 25)->orderBy('name')->pluck('name')));
step('or where, in, null', fn() => User::whereIn('name', ['Ann', 'Cid'])->orWhereNull('age')->orderBy('id')->pluck('id'));
step('json where', fn() => [User::where('options->a', 1)->count(), User::whereJsonContains('options->tags', 'x')->count(), User::whereJsonLength('options->tags', 2)->count()]);
step('json update', fn() => [User::where('id', 1)->update(['options->b' => 5]), User::find(1)->options]);
step('first or create', fn() => [User::firstOrCreate(['email' => 'dan@example.org'], ['name' => 'Dan'])->wasRecentlyCreated, User::firstOrCreate(['email' => 'dan@example.org'])->wasRecentlyCreated]);
step('update', function () {
    $user = User::find(2);
    $user->name = 'Bobby';
    return [$user->save(), $user->save(), $user->wasChanged('name')];
});
step('increment', fn() => [User::where('id', 2)->increment('balance', 1.25), (string) User::find(2)->balance]);
step('upsert', fn() => [User::upsert([['email' => 'ann@example.org', 'name' => 'Anna'], ['email' => 'new@example.org', 'name' => 'New']], ['email'], ['name']), User::orderBy('id')->pluck('name')]);
step('insert or ignore', fn() => $db->table('users')->insertOrIgnore([['email' => 'ann@example.org', 'name' => 'x'], ['email' => 'ign@example.org', 'name' => 'y']]));
step('insert get id', fn() => $db->table('roles')->insertGetId(['name' => 'admin']));
step('relations', function () {
    $ann = User::find(1);
    $ann->posts()->create(['title' => 'First', 'body' => 'Hello']);
    $ann->posts()->createMany([['title' => 'Second'], ['title' => 'Third', 'views' => 5]]);
    User::find(2)->posts()->create(['title' => 'Bobs', 'published_at' => '2024-02-29 10:00:00']);
    $ann->roles()->attach(1, ['level' => 3]);
    return [$ann->posts->pluck('title'), $ann->roles->first()->pivot->level];
});
step('eager', fn() => plain(User::with('posts')->withCount('posts')->orderBy('id')->limit(2)->get()));
step('has', fn() => User::has('posts', '>=', 2)->pluck('id'));
step('where has', fn() => User::whereHas('posts', fn($q) => $q->where('views', '>', 1))->pluck('id'));
step('aggregate', fn() => [Post::count(), Post::sum('views'), Post::avg('views'), Post::max('title'), User::sum('balance')]);
step('group', fn() => plain(Post::selectRaw('user_id, count(*) as c')->groupBy('user_id')->having('c', '>', 1)->get()));
step('join', fn() => plain($db->table('users')->join('posts', 'users.id', '=', 'posts.user_id')->select('users.name', 'posts.title')->orderBy('posts.id')->get()));
step('left join sub', fn() => plain($db->table('users')->leftJoinSub($db->table('posts')->selectRaw('user_id, max(id) as last')->groupBy('user_id'), 'l', 'l.user_id', '=', 'users.id')->orderBy('users.id')->limit(3)->get(['users.id', 'l.last'])));
step('paginate', fn() => [Post::orderBy('id')->paginate(2, ['*'], 'page', 2)->total(), Post::orderBy('id')->forPage(2, 2)->pluck('id')]);
step('chunk', function () {
    $ids = [];
    Post::orderBy('id')->chunk(2, function ($posts) use (&$ids) {
        $ids[] = $posts->pluck('id')->all();
    });
    return $ids;
});
step('cursor', fn() => Post::orderBy('id')->cursor()->map(fn($p) => $p->title)->all());
step('soft delete', fn() => [Post::find(1)->delete(), Post::count(), Post::withTrashed()->count(), Post::onlyTrashed()->restore(), Post::count()]);
step('dates', fn() => [Post::whereYear('published_at', 2024)->count(), Post::whereDate('published_at', '2024-02-29')->count(), Post::whereMonth('published_at', '02')->count(), Post::whereTime('published_at', '>', '09:00')->count()]);
step('union', fn() => $db->table('users')->select('name')->where('id', 1)->union($db->table('roles')->select('name'))->orderBy('name')->pluck('name'));
step('sub select', fn() => plain(User::addSelect(['id', 'last' => Post::select('title')->whereColumn('user_id', 'users.id')->latest('id')->limit(1)])->orderBy('id')->limit(2)->get()->makeHidden(['options'])));
step('exists', fn() => [Post::where('title', 'First')->exists(), $db->table('posts')->where('title', 'zz')->doesntExist()]);
step('random and lock', fn() => [Post::inRandomOrder()->get()->count(), $db->transaction(fn() => Post::where('id', 1)->lockForUpdate()->value('title')), $db->transaction(fn() => Post::where('id', 1)->sharedLock()->value('title'))]);
step('transaction rolls back', function () use ($db) {
    try {
        $db->transaction(function () {
            Role::create(['name' => 'lost']);
            throw new DomainException('no');
        });
    } catch (DomainException) {
    }
    return Role::count();
});
step('nested transactions', function () use ($db) {
    $db->beginTransaction();
    Role::create(['name' => 'kept']);
    $db->beginTransaction();
    Role::create(['name' => 'lost']);
    $db->rollBack();
    $db->commit();
    return Role::orderBy('id')->pluck('name');
});
step('foreign key', fn() => Post::create(['user_id' => 999, 'title' => 'orphan']));
step('cascade', fn() => [User::find(2)->delete(), Post::withTrashed()->where('user_id', 2)->count()]);
step('too long', fn() => Post::create(['user_id' => 1, 'title' => str_repeat('x', 101)]));
step('not null', fn() => $db->table('posts')->insert(['user_id' => 1]));
step('bad column', fn() => Post::where('nope', 1)->get());
step('types', function () use ($db) {
    $db->table('types')->insert(['b' => "\0\xff", 'c' => 'ab', 'd' => '2024-02-29', 'dt' => '2024-02-29 10:11:12.345', 'db' => 1.25, 'f' => 0.5, 'ip' => '::1', 'lt' => str_repeat('ä', 1000), 'mi' => -8388608, 'si' => 32767, 'tm' => '10:11:12', 'ts' => '2024-02-29 10:11:12', 'ti' => -128, 'ub' => '9223372036854775807', 'u' => '6ba7b810-9dad-11d1-80b4-00c04fd430c8', 'y' => 2024, 's' => 'a,b']);
    $row = (array) $db->table('types')->first();
    $row['b'] = bin2hex($row['b']);
    $row['lt'] = mb_strlen($row['lt']);
    return $row;
});
step('alter: add and drop', fn() => $schema->table('users', function (Blueprint $t) {
    $t->string('phone', 30)->nullable()->after('email');
    $t->dropColumn('remember_token');
    $t->dropIndex(['age']);
    $t->index(['name', 'age'], 'name_age');
}));
step('alter: change', fn() => $schema->table('users', function (Blueprint $t) {
    $t->string('name', 50)->nullable()->change();
}));
step('alter: rename column', fn() => $schema->table('users', fn(Blueprint $t) => $t->renameColumn('phone', 'telephone')));
step('alter: rename index', fn() => $schema->table('users', fn(Blueprint $t) => $t->renameIndex('name_age', 'na')));
step('alter: foreign', fn() => $schema->table('posts', fn(Blueprint $t) => $t->dropForeign(['user_id'])));
step('columns after', fn() => $schema->getColumnListing('users'));
step('rows after', fn() => plain($db->table('users')->orderBy('id')->get()));
step('rename table', fn() => [$schema->rename('roles', 'groups'), $db->table('groups')->count()]);
step('queue table', fn() => $schema->create('jobs', function (Blueprint $t) {
    $t->bigIncrements('id');
    $t->string('queue')->index();
    $t->longText('payload');
    $t->unsignedTinyInteger('attempts');
    $t->unsignedInteger('reserved_at')->nullable();
    $t->unsignedInteger('available_at');
    $t->unsignedInteger('created_at');
}));
step('queue', function () use ($db, $container) {
    $queue = new DatabaseQueue($db, 'jobs');
    $queue->setContainer($container);
    $queue->pushRaw('{"job": "one"}');
    $queue->pushRaw('{"job": "two"}');
    $first = $queue->pop();
    $out = [$first->getRawBody(), $first->attempts(), $queue->size()];
    $first->delete();
    $second = $queue->pop();
    $second->release(0);
    return [...$out, $queue->size(), $second->getRawBody()];
});
step('truncate', fn() => [$db->table('jobs')->truncate(), $db->table('jobs')->count(), $db->table('jobs')->insertGetId(['queue' => 'q', 'payload' => '', 'attempts' => 0, 'available_at' => 0, 'created_at' => 0])]);
step('down', fn() => array_map(fn($t) => $schema->dropIfExists($t), ['jobs', 'types', 'role_user', 'groups', 'posts', 'users']));
step('all gone', fn() => count($db->select('SHOW TABLES')));
