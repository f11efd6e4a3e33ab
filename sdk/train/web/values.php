<?php
/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
declare(strict_types=1);

// Dates, numbers, hashes, JSON, serialize, session data, filters, reflection: the small services of every framework.
use Train\Serializer\{Field, Normalizer};

final class Event
{
    #[Field]
    public string $title = '';
    #[Field('starts_at', format: 'Y-m-d')]
    public DateTimeImmutable $start;
    #[Field]
    public ?Event $next = null;
    #[Field]
    public array $guests = [];

    public function __serialize(): array
    {
        return ['t' => $this->title, 's' => $this->start->getTimestamp(), 'g' => $this->guests];
    }

    public function __unserialize(array $data): void
    {
        [$this->title, $this->guests] = [$data['t'], $data['g']];
        $this->start = new DateTimeImmutable("@$data[s]");
    }
}

return static fn (): Closure => static function (): string {
    $out = [];
    $utc = new DateTimeZone('UTC');
    $berlin = new DateTimeZone('Europe/Berlin');
    $normalizer = new Normalizer();
    for ($i = 0; $i < 40; $i++) {
        $d = new DateTimeImmutable(sprintf('2024-%02d-%02d %02d:30:00', $i % 12 + 1, $i % 28 + 1, $i % 24), $utc);
        $out[] = $d->modify('+1 month')->format('D, d M Y') . $d->add(new DateInterval('P1DT2H'))->format(DATE_ATOM) . $d->setTimezone($berlin)->format('H:i T');
        $out[] = $d->diff(new DateTimeImmutable('2025-01-01', $utc))->format('%R%a %m %d %H') . date('N W t L', $d->getTimestamp());
        $out[] = ($d < new DateTime('2024-06-01', $utc) ? 'before' : 'after') . mktime(1, 2, 3, $i % 12 + 1, 4, 2023) . strtotime("2024-01-01 +$i days");
        $out[] = json_encode(['id' => $i, 'f' => $i / 7, 'n' => null, 't' => true, 'list' => range(0, $i % 9), 'text' => "é \"$i\" </p>\u{1F600}",
            'o' => (object) ['a' => ['b' => []]]], JSON_PRESERVE_ZERO_FRACTION | JSON_UNESCAPED_UNICODE);
        $out[] = md5(serialize(json_decode(end($out), $i % 2 === 0, 16, JSON_BIGINT_AS_STRING)));
        $event = new Event();
        $event->title = "Event $i";
        $event->start = $d;
        $event->guests = ['ada', $i];
        $copy = unserialize(serialize([$event, $event]));
        $event->next = $copy[0];
        $out[] = ($copy[0] === $copy[1] ? 'same' : 'two') . json_encode($normalizer->normalize($event));
        $out[] = $normalizer->denormalize(['title' => 'n', 'starts_at' => '2024-02-03', 'next' => ['title' => 'm', 'starts_at' => '2024-02-04']], Event::class)->next->title;
        $out[] = var_export(filter_var("$i.5", FILTER_VALIDATE_FLOAT), true) . filter_var("192.168.$i.1", FILTER_VALIDATE_IP) . (filter_var("abc$i", FILTER_VALIDATE_INT) === false ? 'no' : 'yes');
        $out[] = round($i * 1.005, 2) . '|' . floor(-$i / 3) . '|' . intdiv($i, 4) . '|' . $i % 5 . '|' . fmod($i, 0.7) . '|' . base_convert((string) ($i * 997), 10, 36) . '|' . $i ** 3 . '|' . ($i <=> 20);
        $out[] = hash('sha256', "x$i") . hash_hmac('sha1', "x$i", 'key') . crc32("x$i") . hash('xxh3', "x$i") . bin2hex(pack('NnvC*', $i, $i, $i, 65)) . implode(',', unpack('Nn/vv', pack('Nv', $i, $i)));
        $out[] = password_get_info('$2y$10$abcdefghijklmnopqrstuv1234567890123456789012345678901')['algoName'] . ip2long("10.1.$i.2") . long2ip(167772160 + $i);
    }
    mt_srand(42);
    $out[] = mt_rand() . mt_rand(1, 100) . implode(',', array_rand(array_flip(range('a', 'z')), 3)) . str_shuffle('abcdef');
    foreach ([Normalizer::class, Train\Container\Container::class, Train\Orm\Model::class, Train\Http\Request::class, Train\Model\Status::class] as $class) {
        $r = new ReflectionClass($class);
        $lines = [$r->getShortName(), $r->isFinal() ? 'final' : 'open', implode(' ', $r->getInterfaceNames())];
        foreach ($r->getMethods() as $m) {
            $p = [];
            foreach ($m->getParameters() as $parameter)
                $p[] = $parameter->getType() . ' $' . $parameter->getName() . ($parameter->isDefaultValueAvailable() ? '=' . json_encode($parameter->getDefaultValue()) : '');
            if ($m->isUserDefined())
                $lines[] = implode(' ', Reflection::getModifierNames($m->getModifiers())) . " {$m->name}(" . implode(', ', $p) . '): ' . $m->getReturnType();
        }
        foreach ($r->getProperties() as $property)
            $lines[] = $property->getName() . ':' . $property->getType();
        $out[] = md5(implode("\n", $lines));
    }
    $period = new DatePeriod(new DateTimeImmutable('2024-02-26', $utc), new DateInterval('P1D'), 6);
    foreach ($period as $day)
        $out[] = $day->format('l jS F');
    return implode("\n", array_map('strval', $out));
};
