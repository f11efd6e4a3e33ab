<?php
/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */

/* The page, and with ?events the event stream that it listens to. */

declare(strict_types=1);
require __DIR__ . '/../lib/page.php';

if (isset($_GET['events'])) {
    header('Content-Type: text/event-stream');
    header('Cache-Control: no-store');
    while (ob_get_level() > 0) {
        ob_end_flush();
    }
    for ($i = 1; $i <= 20 && !connection_aborted(); $i++) {
        $data = ['n' => $i, 'time' => date('H:i:s'), 'worker' => getmypid(),
            'sent' => round(microtime(true) * 1000)];
        echo "id: $i\ndata: ", json_encode($data), "\n\n";
        flush();
        usleep(500_000);
    }
    echo "event: end\ndata: {}\n\n";
    return;
}

page_start('Live stream');
?>
<p>Twenty events, one each half second, sent by one PHP script with <code>flush()</code>.
Nothing between the script and your browser collects them.</p>
<ol id="events" class="log"></ol>
<p id="state">connecting</p>
<script>
const list = document.getElementById('events');
const state = document.getElementById('state');
const source = new EventSource('/stream.php?events');
source.onopen = () => { state.textContent = 'connected'; };
source.onmessage = (event) => {
  const data = JSON.parse(event.data);
  const item = document.createElement('li');
  item.textContent = `${data.time}  worker ${data.worker}  ${Math.max(0, Date.now() - data.sent)} ms on the way`;
  list.append(item);
};
source.addEventListener('end', () => { source.close(); state.textContent = 'complete'; });
source.onerror = () => { source.close(); state.textContent = 'the connection ended'; };
</script>
<noscript><p>Without JavaScript: <a href="/stream.php?events">the raw stream</a>.</p></noscript>
<?php
page_end();
