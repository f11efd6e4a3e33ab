<?php
/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
declare(strict_types=1);

namespace Train;

use Train\Container\Container;
use Train\Events\{Dispatcher, ResponseMade};
use Train\Http\{HttpException, Request, Response};
use Train\I18n\Translator;
use Train\Middleware\{Authenticate, Conditional, Errors, Pipeline, Session, Throttle};
use Train\Orm\{Connection, Model};
use Train\Routing\Router;
use Train\View\{Compiler, Engine};

/** The application: what index.php serves, and what the command line asks in a loop. */
final class Kernel
{
    private const CONTROLLERS = [Controller\Pages::class, Controller\Api::class];
    private const STAGES = [Errors::class, Throttle::class . ':100000', Session::class, Conditional::class];

    public readonly Container $container;

    public function __construct(string $cache)
    {
        $c = $this->container = new Container();
        $c->set(Container::class, $c);
        $c->set(\PDO::class, static fn (): \PDO => new \PDO('sqlite::memory:'));
        $c->set(Connection::class, static function (Container $c): Connection {
            $connection = new Connection($c->get(\PDO::class));
            Model::connect($connection);
            (new Seed($connection))->run();
            return $connection;
        });
        $c->set(Engine::class, static fn (): Engine => new Engine(new Compiler(), __DIR__ . '/../site/views', $cache));
        $c->set(Translator::class, static fn (): Translator => new Translator(require __DIR__ . '/../site/texts.php'));
        $c->set(Router::class, self::router(...));
        $c->alias('router', Router::class)->alias('views', Engine::class)->alias('events', Dispatcher::class);
        $c->decorate(Engine::class, static function (Engine $views, Container $c): Engine {
            $views->share('router', $c->get('router'));
            $views->share('site', ['name' => 'The Training Ground', 'year' => 2024]);
            return $views;
        });
        $c->get('events')->listen(ResponseMade::class, static function (ResponseMade $e): void {
            $e->subject->headers->set('X-Frame-Options', 'DENY');
            $e->notes[] = 'frames';
        });
        $c->get('events')->listen(ResponseMade::class, static function (ResponseMade $e): void {
            $e->subject->headers->set('X-Request-Id', substr(hash('crc32b', $e->subject->content()), 0, 8));
        }, 10);
    }

    private static function router(Container $c): Router
    {
        $router = new Router();
        foreach (self::CONTROLLERS as $class)
            $router->controller($class);
        foreach (['about', 'contact', 'imprint', 'jobs', 'press', 'privacy', 'terms', 'help'] as $page)
            $router->get("/$page", static fn (): Response => new Response("<h1>$page</h1>"), $page);
        $router->group('/admin', 'admin.', [Authenticate::class], static function (Router $r): void {
            foreach (['articles', 'authors', 'comments', 'media', 'users', 'settings'] as $part) {
                $answer = static fn (Request $request, string $id = '0'): Response
                    => new Response("$part $id for $request->user");
                $r->get("/$part", $answer, "$part.index");
                $r->get("/$part/{id}", $answer, "$part.show", ['id' => '\d+']);
                $r->put("/$part/{id}", $answer, "$part.update", ['id' => '\d+']);
                $r->delete("/$part/{id}", $answer, "$part.delete", ['id' => '\d+']);
            }
        });
        return $router;
    }

    public function handle(Request $request): Response
    {
        $this->container->get(Connection::class);
        $pipeline = $this->container->get(Pipeline::class)->through(self::STAGES);
        $response = $pipeline->run($request, function (Request $request): Response {
            [$route, $parameters] = $this->container->get('router')->match($request->method(), $request->path());
            $core = function (Request $request) use ($route, $parameters): Response {
                $action = $route->action;
                if (is_array($action))
                    $action = $this->container->get($action[0])->{$action[1]}(...);
                return $this->container->call($action, ['request' => $request] + $parameters);
            };
            return $this->container->get(Pipeline::class)->through($route->stack())->run($request, $core);
        });
        $this->container->get('events')->dispatch(new ResponseMade($response));
        return $response;
    }
}
