"""The words of the built-in corpus: each English lemma, its one translation, what goes with it.

The tables are text, so that they can be read and extended without knowing the code. An entry is
`english french`; irregular plurals and feminines follow a slash; an underscore joins the words of
one expression. `marron!` marks an adjective that never changes.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, eq=False)
class Noun:
    """A noun with both its numbers in both languages; `kind` says what it can do and be."""

    english: str
    english_plural: str
    french: str
    french_plural: str
    gender: str  # "m" or "f", in French
    kind: str
    number: str = "count"  # or "mass" (bread), "pair" (trousers: plural in English only), "plural"


@dataclass(frozen=True, eq=False)
class Adjective:
    """An adjective with its French forms, keyed "ms", "fs", "mp", "fp"."""

    english: str
    forms: dict[str, str]
    before: bool  # stands before the noun in French


@dataclass(frozen=True, eq=False)
class Verb:
    """A verb in its -ing form, with the French present (third person) and what it goes with."""

    english: str  # "looking at"
    singular: str
    plural: str
    preposition: str  # French preposition before the object, or ""
    subjects: tuple[str, ...]  # kinds
    objects: tuple[str, ...]  # kinds; empty: intransitive
    settings: tuple[str, ...]  # groups of SETTINGS
    manners: tuple[str, ...]  # adverbs


# An initial h is silent either way, but only the mute one lets the word before it elide.
H_ASPIRATE = frozenset(
    "hache hamac hamacs hamster hamsters hangar hangars haricot haricots harpe héros hérisson "
    "hérissons hibou hiboux hockey homard homards huit haches harpes".split()
)
H_MUTE = frozenset(
    "herbe heureux heureuse heureuses hiver homme hommes hôpital hôpitaux horloge horloges hôtel "
    "hôtels".split()
)

# ------------------------------------------------------------------------------------- nouns

_NOUNS = {
    "man m": """
        man/men homme, father père, grandfather grand-père/grands-pères, uncle oncle, king roi,
        waiter serveur, policeman/policemen policier, fireman/firemen pompier,
        fisherman/fishermen pêcheur""",
    "woman f": """
        woman/women femme, mother mère, grandmother grand-mère/grands-mères, aunt tante,
        queen reine, waitress serveuse, nurse infirmière, actress actrice, lady dame""",
    "worker m": """
        farmer fermier, baker boulanger, doctor médecin, painter peintre, musician musicien,
        clown clown, soldier soldat, teacher professeur, gardener jardinier, artist artiste,
        student étudiant, worker ouvrier, sailor marin""",
    "boy m": "boy garçon, prince prince",
    "girl f": "girl fille, princess princesse",
    "child m": "child/children enfant",
    "baby m": "baby bébé",
    "person m": "tourist touriste, neighbor voisin, hero/heroes héros",
    "person f": "person/people personne",
    "pet m": "dog chien, cat chat, rabbit lapin, hamster hamster, kitten chaton, puppy chiot",
    "pet f": "mouse/mice souris, turtle tortue",
    "farm m": "horse cheval, pig cochon, donkey âne",
    "farm f": "cow vache, goat chèvre",
    "wild m": """
        elephant éléphant, monkey singe, lion lion, tiger tigre, bear ours, wolf/wolves loup,
        fox renard, squirrel écureuil, hedgehog hérisson, zebra zèbre, camel chameau""",
    "wild f": "giraffe girafe, frog grenouille",
    "bird m": "bird oiseau, owl hibou/hiboux, duck canard, parrot perroquet, eagle aigle",
    "bird f": "hen poule",
    "fruit m": "lemon citron, melon melon, bean haricot",
    "fruit f": """
        apple pomme, orange orange, banana banane, strawberry fraise, carrot carotte,
        tomato/tomatoes tomate, potato/potatoes pomme_de_terre/pommes_de_terre, pear poire,
        cherry cerise""",
    "snack m": """
        cake gâteau, sandwich sandwich, egg œuf, lobster homard, cookie biscuit,
        croissant croissant""",
    "snack f": "pizza pizza, omelette omelette",
    "treat m mass": "bread pain, cheese fromage, chocolate chocolat",
    "dish m mass": "rice riz, fish poisson",
    "dish f mass": "soup soupe, ice_cream glace, meat viande, jam confiture, salad salade",
    "drink m mass": "milk lait, coffee café, tea thé, juice jus",
    "drink f mass": "water eau, lemonade limonade",
    "text m": "book livre, poem poème",
    "text f": "letter lettre",
    "paper m": "newspaper journal",
    "paper f": "map carte",
    "toy m": "ball ballon, toy jouet, drum tambour",
    "toy f": "doll poupée",
    "container m": "bag sac, basket panier",
    "container f": "box boîte, bottle bouteille, suitcase valise",
    "tableware m": "bowl bol, vase vase",
    "tableware f": "plate assiette, cup tasse",
    "tool m": """
        stick bâton, knife/knives couteau, pencil crayon, hammer marteau, bucket seau,
        flag drapeau, umbrella parapluie""",
    "tool f": "rope corde, axe hache, lamp lampe, clock horloge, candle bougie",
    "device m": "phone téléphone, camera appareil_photo/appareils_photo, computer ordinateur",
    "plant f": "flower fleur, plant plante, rose rose, tulip tulipe",
    "seat m": "bed lit, sofa canapé, bench banc, hammock hamac",
    "seat f": "chair chaise",
    "furniture m": "desk bureau, carpet tapis, mirror miroir",
    "furniture f": "table table, shelf/shelves étagère, wardrobe armoire",
    "opening f": "door porte, window fenêtre",
    "opening m": "gate portail",
    "car m": "truck camion, bus bus, tractor tracteur, taxi taxi",
    "car f": "car voiture, van camionnette",
    "cycle m": "bicycle vélo, scooter scooter",
    "cycle f": "motorcycle moto",
    "vessel m": "boat bateau, train train",
    "instrument m": "piano piano, violin violon, accordion accordéon",
    "instrument f": "guitar guitare, flute flûte, harp harpe, trumpet trompette",
    "sport m": "football football, tennis tennis, golf golf, hockey hockey",
    "sport f plural": "cards cartes",
    "building m": """
        castle château, hotel hôtel, museum musée, hospital hôpital, store magasin, shed hangar,
        theater théâtre""",
    "building f": """
        house maison, church église, tower tour, farm ferme, school école, bakery boulangerie""",
    "barrier m": "wall mur",
    "barrier f": "fence clôture",
    "landmark m": "bridge pont, roof toit",
    "landmark f": "statue statue, fountain fontaine",
    "height m": "tree arbre, rock rocher",
    "height f": "mountain montagne, hill colline",
    "waters m": "lake lac",
    "waters f": "river rivière",
    "area m": "garden jardin, park parc, field champ, village village",
    "area f": "street rue, forest forêt, road route, courtyard cour, beach plage",
    "room m": """
        living_room salon, office bureau, restaurant restaurant, garage garage, attic grenier,
        corridor couloir""",
    "room f": """
        kitchen cuisine, bedroom chambre, bathroom salle_de_bains/salles_de_bains,
        classroom salle_de_classe/salles_de_classe, library bibliothèque""",
    "venue m": "market marché, zoo zoo, airport aéroport, stadium stade, circus cirque",
    "venue f": "station gare, swimming_pool piscine",
    "ground m": "sidewalk trottoir, balcony balcon",
    "ground f": "grass herbe, terrace terrasse, stage scène",
    "outfit m": "suit costume, coat manteau, uniform uniforme, sweater pull, apron tablier",
    "outfit f": "shirt chemise, jacket veste",
    "outfit m pair": "trousers pantalon, pajamas pyjama",
    "gown f": "dress robe, skirt jupe",
    "accessory m": "hat chapeau, helmet casque, mask masque, necklace collier",
    "accessory f": "cap casquette, scarf/scarves écharpe, tie cravate, crown couronne",
    "accessory m plural": "gloves gants",
    "accessory f plural": "shoes chaussures, boots bottes, glasses lunettes",
    "body m plural": "hair cheveux, eyes yeux",
}


def _entries(table: str) -> list[list[str]]:
    return [entry.split() for entry in " ".join(table.split()).split(", ")]


def _english_plural(word: str) -> str:
    if word.endswith("y") and word[-2] not in "aeiou":
        return word[:-1] + "ies"
    return word + ("es" if word.endswith(("s", "x", "ch", "sh")) else "s")


def _french_plural(word: str) -> str:
    if word.endswith(("s", "x", "z")):
        return word
    if word.endswith("al"):
        return word[:-2] + "aux"
    return word + ("x" if word.endswith("eau") else "s")


def _read_nouns() -> dict[str, Noun]:
    nouns = {}
    for header, table in _NOUNS.items():
        kind, gender, number = (header.split() + ["count"])[:3]
        for english, french in _entries(table):
            english, _, english_plural = english.replace("_", " ").partition("/")
            french, _, french_plural = french.replace("_", " ").partition("/")
            if number == "plural":
                english_plural, french_plural = english, french
            elif number == "pair":
                english_plural, french_plural = english, french
            nouns[english] = Noun(
                english,
                english_plural or _english_plural(english),
                french,
                french_plural or _french_plural(french),
                gender,
                kind,
                number,
            )
    return nouns


NOUNS: dict[str, Noun] = _read_nouns()

# -------------------------------------------------------------------------------- adjectives

_BEFORE = """
    big grand, small petit, old vieux/vieille, young jeune, beautiful beau/belle,
    new nouveau/nouvelle, long long/longue, fat gros/grosse, pretty joli, huge énorme,
    good bon/bonne, bad mauvais, kind gentil/gentille"""
_AFTER = """
    red rouge, blue bleu, green vert, yellow jaune, white blanc/blanche, black noir, brown marron!,
    orange orange!, gray gris, pink rose, purple violet/violette, heavy lourd, round rond,
    clean propre, dirty sale, dry sec/sèche, wet mouillé, empty vide, full plein, broken cassé,
    tall de_grande_taille!,
    expensive cher, strange étrange, open ouvert, closed fermé, wooden en_bois!, striped rayé,
    leather en_cuir!, fresh frais/fraîche, hot chaud, cold froid, sweet sucré, delicious délicieux,
    happy heureux, sad triste, tired fatigué, hungry affamé, famous célèbre, rich riche,
    serious sérieux, curious curieux, shy timide, brave courageux,
    strong fort, blond blond, French français, Italian italien, athletic sportif,
    lazy paresseux, calm calme, proud fier, elegant élégant, local local, medieval médiéval,
    modern moderne, sitting assis, standing debout!, lying allongé, kneeling agenouillé,
    quiet tranquille, dangerous dangereux, ripe mûr, curly frisé, short court"""


def _feminine(word: str) -> str:
    for ending, feminine in (("eux", "euse"), ("if", "ive"), ("er", "ère"), ("ien", "ienne")):
        if word.endswith(ending):
            return word[: -len(ending)] + feminine
    return word if word.endswith("e") else word + "e"


def _read_adjectives() -> dict[str, Adjective]:
    adjectives = {}
    for before, table in ((True, _BEFORE), (False, _AFTER)):
        for english, french in _entries(table):
            french = french.replace("_", " ")
            if french.endswith("!"):
                forms = dict.fromkeys(("ms", "fs", "mp", "fp"), french[:-1])
            else:
                masculine, _, feminine = french.partition("/")
                feminine = feminine or _feminine(masculine)
                forms = {
                    "ms": masculine,
                    "fs": feminine,
                    "mp": _french_plural(masculine),
                    "fp": _french_plural(feminine),
                }
            adjectives[english] = Adjective(english, forms, before)
    return adjectives


ADJECTIVES: dict[str, Adjective] = _read_adjectives()

# These change their masculine singular before a vowel sound.
BEFORE_VOWEL = {"beau": "bel", "nouveau": "nouvel", "vieux": "vieil"}

_COLORS = "red blue green yellow white black brown orange gray pink purple"
_MOODS = "happy sad tired hungry calm curious"
_TEMPERS = "famous rich kind serious shy brave strong blond French Italian athletic lazy proud"
_ADULT = f"young old tall {_MOODS} {_TEMPERS}"
_YOUTH = f"small young {_MOODS} {_TEMPERS}"
_FUR = "white black gray brown wet dirty"
_USED = "clean dirty broken expensive strange"
_BUILT = "big small old beautiful new pretty huge modern white gray medieval strange famous"

# What each kind of noun can be, before the noun and after the verb alike.
QUALITIES: dict[str, tuple[Adjective, ...]] = {
    kind: tuple(ADJECTIVES[name] for name in names.split())
    for kind, names in {
        "man": f"elegant {_ADULT}",
        "woman": f"beautiful pretty elegant {_ADULT}",
        "worker": f"elegant new local {_ADULT}",
        "boy": f"tall {_YOUTH}",
        "girl": f"tall pretty {_YOUTH}",
        "child": f"beautiful {_YOUTH}",
        "baby": f"small beautiful fat pretty strong blond {_MOODS}",
        "person": f"elegant {_ADULT}",
        "pet": f"big small old young beautiful fat huge lazy {_FUR} {_MOODS}",
        "farm": f"big small old young beautiful fat huge lazy {_FUR} {_MOODS}",
        "wild": f"big small old young beautiful fat huge lazy wet dirty strong dangerous {_MOODS}",
        "bird": f"small young beautiful fat wet white black gray brown {_MOODS}",
        "fruit": "small good bad beautiful huge fresh sweet delicious ripe expensive round cold",
        "snack": "small good bad huge fresh sweet delicious cold hot expensive round",
        "treat": "good bad fresh delicious expensive",
        "dish": "good bad fresh cold hot delicious expensive",
        "drink": "good bad fresh cold hot sweet delicious",
        "text": "long old new beautiful good bad strange serious",
        "paper": "big small old new strange open wet",
        "toy": f"big small old new beautiful pretty wooden striped {_COLORS} {_USED}",
        "container": f"big small old new {_COLORS} heavy empty full open closed {_USED}",
        "tableware": f"big small old new beautiful striped {_COLORS} round full empty {_USED}",
        "tool": f"big small long old new {_COLORS} heavy {_USED}",
        "device": f"big small old new modern black white {_USED}",
        "plant": "big small beautiful pretty huge fresh strange dry red yellow white pink purple",
        "seat": f"big small old new beautiful {_COLORS} wooden leather striped modern {_USED}",
        "furniture": f"big small old new pretty heavy white black wooden round modern {_USED}",
        "opening": "big small old open closed wooden medieval dirty white red green blue round",
        "car": f"big small old new beautiful {_COLORS} clean dirty broken expensive empty",
        "cycle": f"big small old new beautiful {_COLORS} clean dirty broken expensive",
        "vessel": "big small old new long beautiful white red blue green empty full modern dirty",
        "instrument": "big small old new beautiful broken expensive strange white black",
        "building": f"empty closed open quiet {_BUILT}",
        "barrier": f"long wooden {_BUILT}",
        "landmark": f"round {_BUILT}",
        "height": "big small beautiful huge strange dangerous famous",
        "waters": "big small beautiful long quiet dangerous famous",
        "area": "big small beautiful old pretty huge quiet empty strange dry",
        "room": "big small beautiful old pretty modern white empty quiet clean dirty",
        "ground": "beautiful pretty dirty dry wet",
        "venue": "big small old modern empty full famous",
        "outfit": f"long short old new beautiful {_COLORS} elegant striped dirty wet dry",
        "gown": f"long short old new beautiful pretty {_COLORS} elegant striped dirty wet dry",
        "accessory": f"big small old new beautiful pretty {_COLORS} elegant dirty wet",
    }.items()
}
# In French a new thing is "nouveau" before its noun but "neuf" after the verb, a good one "bon":
# leaving these out of predicates keeps one French word for one English word.
ATTRIBUTE_ONLY = frozenset({"new", "good", "bad", "local", "medieval", "leather"})
NO_DEGREE = frozenset(  # never with "very"
    f"{_COLORS} open closed broken wooden empty full huge delicious French Italian round "
    "striped tall".split()
)
# A closed door is not closed again.
DONE = {"opening": "open", "closing": "closed", "breaking": "broken", "cleaning": "clean",
        "washing": "clean", "repairing": "new"}  # fmt: skip
# What nothing is at once: two of one set never describe the same noun.
CLASHES = tuple(
    frozenset(names.split())
    for names in (
        _COLORS,
        "big small huge fat",
        "tall small",
        "old new young modern",
        "medieval new modern",
        "short long",
        "happy sad",
        "clean dirty",
        "clean broken",
        "new broken",
        "dry wet",
        "dry fresh ripe",
        "good bad delicious",
        "fresh hot cold old",
        "hot cold",
        "full empty",
        "open closed",
        "wooden leather",
        "French Italian local",
        "athletic lazy fat",
        "beautiful pretty elegant",
        "brave shy",
        "famous strange",
    )
)
POSTURES = tuple(ADJECTIVES[name] for name in ("sitting", "standing", "lying", "kneeling"))
HAIR = ("long", "short", "curly", "black", "gray", "white", "blond")
EYES = ("blue", "green", "black", "brown", "beautiful")

# ------------------------------------------------------------------------------------- verbs

KINDS: dict[str, tuple[str, ...]] = {
    "adult": ("man", "woman", "worker", "person"),
    "youth": ("boy", "girl", "child"),
    "older": ("man", "woman", "worker", "person", "boy", "girl", "child"),
    "people": ("man", "woman", "worker", "person", "boy", "girl", "child", "baby"),
    "animals": ("pet", "farm", "wild", "bird"),
    "beasts": ("pet", "farm", "wild"),
    "clothes": ("outfit", "accessory"),
    "goods": ("toy", "container", "tableware", "plant", "tool"),
    "food": ("fruit", "snack"),
}

# english | french | subjects | objects | settings | manners
_VERBS = """
    sleeping | dort/dorment | people pet | | rest | quietly
    sleeping | dort/dorment | farm wild bird | | outside | quietly
    running | court/courent | older beasts | | outside road | quickly
    walking | marche | older beasts | | outside road | slowly quietly
    swimming | nage | older wild | | water | slowly quickly
    dancing | danse | older | | outside home public | happily slowly
    singing | chante | older | | outside home public | happily quietly
    laughing | rit/rient | people | | outside home public | happily
    smiling | sourit/sourient | people | | outside home public | quietly
    crying | pleure | people | | home public | quietly
    jumping | saute | older beasts | | outside | happily
    working | travaille | adult | | public outside | quietly carefully slowly
    playing | joue | youth baby pet | | home outside | happily quietly
    resting | se_repose | people pet | | rest | quietly
    resting | se_repose | farm wild | | outside | quietly
    training | se_entraîne | adult | | pitch outside | carefully happily
    shouting | crie | older | | outside public | happily
    waiting | attend/attendent | older | | public road | quietly
    flying | vole | bird | | sky | slowly quickly
    eating | mange | people | food dish treat | home public | slowly quickly quietly
    eating | mange | animals | fruit | outside | slowly quickly
    drinking | boit/boivent | older | drink | home public | slowly quickly
    reading | lit/lisent | older | text paper | home public rest | quietly slowly
    writing | écrit/écrivent | adult youth | text | home public | slowly carefully
    wearing | porte | older | outfit accessory |  |
    wearing | porte | woman girl | gown | |
    carrying | porte | older | container fruit plant | outside road | slowly carefully
    carrying | porte | adult | tool seat device | outside road | carefully
    holding | tient/tiennent | older | goods device | | carefully
    holding | tient/tiennent | baby | toy | |
    throwing | lance | older | toy | outside | happily
    hiding | cache | older | toy container fruit text | home | quickly quietly carefully
    washing | lave | older | car cycle pet farm tableware | outside | carefully quickly
    cleaning | nettoie/nettoient | adult | furniture seat room opening tableware | | quickly
    painting | peint/peignent | adult | opening barrier seat building | | carefully slowly
    repairing | répare | adult | car cycle seat furniture instrument device opening | | carefully
    driving | conduit/conduisent | adult | car | road | carefully slowly quickly
    pushing | pousse | older | car cycle | road | slowly
    pulling | tire | adult farm | car | road | slowly
    watching | regarde | people animals | people animals vessel | outside | quietly
    looking_at | regarde | older | building plant height waters area instrument | | quietly
    looking_for | cherche | older | goods text paper accessory pet | home | quickly
    listening_to | écoute | older | people bird | outside home | quietly happily
    waiting_for | attend/attendent | older pet | people car | road | quietly
    talking_to | parle_à | older | people pet farm | outside home public | quietly slowly
    smiling_at | sourit_à/sourient_à | people | people | outside home public | happily
    playing_with | joue_avec | youth baby pet | pet toy | home outside | happily quietly
    dancing_with | danse_avec | older | people | home public | happily slowly
    jumping_over | saute_par-dessus | older farm | barrier | outside | quickly
    crossing | traverse | older beasts | area waters | | slowly quickly
    opening | ouvre | older | opening container | | slowly carefully
    closing | ferme | older | opening container | | slowly quickly
    cutting | coupe | adult | treat fruit | home | carefully quickly
    preparing | prépare | adult | dish | home public | carefully happily
    buying | achète | older | food dish treat clothes plant tableware device | shop |
    selling | vend/vendent | adult | food dish treat clothes goods instrument | shop | happily
    feeding | nourrit/nourrissent | older | animals | outside | carefully
    helping | aide | older | people | outside home public | happily
    following | suit/suivent | older animals | people animals | outside road | slowly quietly
    chasing | poursuit/poursuivent | pet wild | animals | outside | quickly
    kissing | embrasse | adult | people pet | home | happily
    photographing | photographie | older | people animals building height | | carefully
    drawing | dessine | older | animals plant building height waters landmark | | slowly carefully
    building | construit/construisent | adult | building barrier landmark | | slowly
    watering | arrose | older | plant | outside | carefully
    picking | cueille | older | plant | outside | carefully
    climbing | escalade | older | height barrier | | slowly quickly
    lifting | soulève | adult | container seat furniture | home | slowly
    visiting | visite | adult | building venue area | | quickly
    breaking | casse | older | toy tableware device | home |
"""


def _read_verbs() -> tuple[Verb, ...]:
    verbs = []
    for line in _VERBS.strip().splitlines():
        english, french, subjects, objects, settings, manners = (
            part.strip() for part in line.split("|")
        )
        french, _, plural = french.partition("/")
        french, _, preposition = french.partition("_")
        plural = plural.partition("_")[0]
        if french == "se":
            french, preposition = f"se {preposition}", ""
        plural = plural or french + "nt"

        def kinds(names: str) -> tuple[str, ...]:
            return tuple(kind for name in names.split() for kind in KINDS.get(name, (name,)))

        verbs.append(
            Verb(
                english.replace("_", " "),
                french,
                plural,
                preposition,
                kinds(subjects),
                kinds(objects),
                tuple(settings.split()),
                tuple(manners.split()),
            )
        )
    return tuple(verbs)


VERBS: tuple[Verb, ...] = _read_verbs()

# ---------------------------------------------------------------------------------- settings

# preposition noun french_preposition; after "at" the place is always "the" and has no adjective
_SETTINGS = {
    "home": """
        in kitchen dans, in bedroom dans, in living_room dans, in bathroom dans, in garage dans,
        in attic dans, in corridor dans, in office dans, on balcony sur, on terrace sur""",
    "public": """
        in restaurant dans, in library dans, in classroom dans, in church dans, in museum dans,
        in theater dans, on stage sur, at market à, at station à, at zoo à, at airport à,
        at stadium à, at circus à, at school à, at hospital à, at swimming_pool à""",
    "outside": """
        in garden dans, in park dans, in field dans, in forest dans, in village dans,
        in courtyard dans, on grass sur, on beach sur, at beach à, on hill sur, under tree sous,
        near river près_de, near lake près_de, behind shed derrière, near mountain près_de,
        in_front_of house devant, next_to fountain à_côté_de, behind church derrière,
        in_front_of castle devant, near tower près_de, next_to statue à_côté_de, at farm à,
        behind wall derrière, near rock près_de, in_front_of fence devant""",
    "road": """
        on road sur, in street dans, on bridge sur, in village dans, near hospital près_de,
        in_front_of hotel devant, next_to station à_côté_de, behind theater derrière,
        near airport près_de, in_front_of bakery devant, next_to school à_côté_de""",
    "rest": """
        on grass sur, on bed sur, on sofa sur, on bench sur, in hammock dans, under tree sous,
        on chair sur, on carpet sur, on balcony sur, on terrace sur, on boat sur, on train dans,
        on bus dans""",
    "pitch": "at stadium à, in park dans, at school à, on beach sur, in garden dans",
    "water": "in river dans, in lake dans, in swimming_pool dans",
    "sky": """
        above forest au-dessus_de, above lake au-dessus_de, above hill au-dessus_de,
        above house au-dessus_de, above roof au-dessus_de, above field au-dessus_de,
        above beach au-dessus_de""",
    "shop": """
        at market à, in store dans, at airport à, at station à, in_front_of stadium devant,
        in_front_of museum devant, in street dans, near zoo près_de, behind circus derrière""",
    "top": """
        on table sur, under table sous, on desk sur, on shelf sur, on chair sur, under bed sous,
        next_to mirror à_côté_de, in_front_of window devant, behind door derrière,
        on carpet sur, in wardrobe dans, near door près_de, behind sofa derrière""",
    "parked": """
        in_front_of house devant, behind hotel derrière, near bridge près_de, in garage dans,
        next_to store à_côté_de, in courtyard dans, on sidewalk sur, in street dans,
        next_to shed à_côté_de, in_front_of station devant""",
}

SETTINGS: dict[str, tuple[tuple[str, Noun, str], ...]] = {
    group: tuple(
        (english.replace("_", " "), NOUNS[noun.replace("_", " ")], french.replace("_", " "))
        for english, noun, french in _entries(table)
    )
    for group, table in _SETTINGS.items()
}

# Where things, animals and people are found when they do nothing.
WHERE = {
    "toy": "top", "container": "top", "tableware": "top", "tool": "top", "text": "top",
    "paper": "top", "device": "top", "car": "parked", "cycle": "parked", "farm": "outside",
    "pet": "outside", "wild": "outside", "child": "outside", "girl": "public", "boy": "public",
    "woman": "public", "man": "public", "worker": "public", "person": "public",
}  # fmt: skip

# english | french | positions of the English words that each French word renders (- for none)
_TIMES = """
    in the morning | le matin | 1 2
    in the evening | le soir | 1 2
    this morning | ce matin | 0 1
    at night | la nuit | - 1
    in winter | en hiver | 0 1
    in summer | en été | 0 1
    in spring | au printemps | 0 1
    now | maintenant | 0
"""
_WEATHER = """
    in the rain | sous la pluie | 0 1 2
    in the snow | dans la neige | 0 1 2
    in the sun | au soleil | 0,1 2
    in the wind | dans le vent | 0 1 2
"""


def _read_phrases(table: str) -> tuple[tuple[str, ...], ...]:
    return tuple(
        tuple(part.strip() for part in line.split("|")) for line in table.strip().splitlines()
    )


TIMES = _read_phrases(_TIMES)
WEATHER = _read_phrases(_WEATHER)
OUTDOORS = frozenset({"outside", "road", "water", "sky", "pitch"})
MANNERS = {"slowly": "lentement", "quietly": "tranquillement", "carefully": "avec soin",
              "happily": "joyeusement", "quickly": "rapidement"}  # fmt: skip
OTHER_ADVERBS = ("now", "alone", "together", "very")
BETWEEN = {"still": "encore", "always": "toujours", "often": "souvent"}
NUMBERS = {"two": "deux", "three": "trois", "four": "quatre", "five": "cinq", "six": "six",
           "seven": "sept", "eight": "huit", "nine": "neuf", "ten": "dix"}  # fmt: skip


def lemmas() -> frozenset[tuple[str, str]]:
    """The English content lemmas of the corpus, each as (part of speech, lemma)."""
    found = {("noun", english) for english in NOUNS}
    found |= {("adjective", english) for english in ADJECTIVES}
    found |= {("verb", verb.english) for verb in VERBS} | {("verb", "riding"), ("verb", "having")}
    found |= {("adverb", english) for english in (*MANNERS, *BETWEEN, *OTHER_ADVERBS)}
    found |= {("number", english) for english in NUMBERS}
    found |= {("noun", english.split()[-1]) for english, *_ in TIMES + WEATHER if english != "now"}
    return frozenset(found)
