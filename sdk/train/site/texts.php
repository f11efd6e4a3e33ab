<?php
/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
return [
    'en' => ['title' => 'Read and buy', 'comments' => '{0} no comments|one comment|%count% comments', 'by' => 'by %name%',
        'more' => 'Read on', 'page' => 'Page %page% of %pages%', 'visits' => 'one visit|%count% visits'],
    'de' => ['title' => 'Lesen und kaufen', 'comments' => '{0} keine Kommentare|ein Kommentar|%count% Kommentare',
        'by' => 'von %name%', 'more' => 'Weiterlesen', 'page' => 'Seite %page% von %pages%'],
    'fr' => ['title' => 'Lire et acheter', 'comments' => 'un commentaire|%count% commentaires', 'by' => 'par %name%'],
];
