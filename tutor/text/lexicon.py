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
    rank: int  # among English adjectives: the lower comes first ("happy young prince")


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
    "pet m": "dog chien, cat chat, kitten chaton, puppy chiot",
    "tiny m": "rabbit lapin, hamster hamster",
    "tiny f": "mouse/mice souris",
    "farm m": "horse cheval, pig cochon, donkey âne",
    "farm f": "cow vache, goat chèvre",
    "fowl f": "hen poule",
    "hunter m": "lion lion, tiger tigre, bear ours, wolf/wolves loup, fox renard",
    "wild m": """
        elephant éléphant, monkey singe, squirrel écureuil, hedgehog hérisson, zebra zèbre,
        camel chameau""",
    "wild f": "giraffe girafe",
    "pond f": "frog grenouille, turtle tortue",
    "bird m": "bird oiseau, owl hibou/hiboux, duck canard, parrot perroquet, eagle aigle",
    "fruit m": "lemon citron, melon melon",
    "fruit f": """
        apple pomme, orange orange, banana banane, strawberry fraise, tomato/tomatoes tomate,
        pear poire, cherry cerise""",
    "vegetable m": "bean haricot",
    "vegetable f": "carrot carotte, potato/potatoes pomme_de_terre/pommes_de_terre",
    "pastry m": "cake gâteau, cookie biscuit, croissant croissant",
    "snack m": "sandwich sandwich, egg œuf, lobster homard",
    "snack f": "pizza pizza, omelette omelette",
    "treat m mass": "bread pain, cheese fromage, chocolate chocolat",
    "dish m mass": "rice riz, fish poisson",
    "dish f mass": "soup soupe, ice_cream glace, meat viande, jam confiture, salad salade",
    "drink m mass": "milk lait, coffee café, tea thé, juice jus",
    "drink f mass": "water eau, lemonade citronnade",
    "text m": "book livre, poem poème",
    "text f": "letter lettre",
    "paper m": "newspaper journal",
    "paper f": "map carte",
    "ball m": "ball ballon",
    "toy m": "toy jouet",
    "toy f": "doll poupée",
    "container m": "bag sac",
    "container f": "box boîte, bottle bouteille, suitcase valise",
    "tableware m": "bowl bol, vase vase",
    "tableware f": "plate assiette, cup tasse",
    "tool m": """
        stick bâton, knife/knives couteau, pencil crayon, hammer marteau, bucket seau,
        flag drapeau, umbrella parapluie, basket panier""",
    "tool f": "rope corde, axe hache, lamp lampe, clock horloge, candle bougie",
    "device m": "phone téléphone, camera appareil_photo/appareils_photo, computer ordinateur",
    "plant f": "flower fleur, rose rose, tulip tulipe",
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
    "cart f": "cart charrette, wheelbarrow brouette, sled luge",
    "vessel m": "boat bateau, train train",
    "instrument m": "drum tambour, piano piano, violin violon, accordion accordéon",
    "instrument f": "guitar guitare, flute flûte, harp harpe, trumpet trompette",
    "sport m": "football football, tennis tennis, rugby rugby, hockey hockey",
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
    "tree m": "tree arbre",
    "height m": "rock rocher",
    "height f": "mountain montagne, hill colline",
    "waters m": "lake lac",
    "waters f": "river rivière",
    "area m": "garden jardin, park parc, field champ, village village",
    "area f": "forest forêt, courtyard cour, beach plage",
    "way f": "street rue, road route",
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
                english_plural = english
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


# English puts a judgement first, then size, state or mood (all the others), age, what may pass,
# colour, origin, material.
_ORDER = (
    "beautiful pretty good bad kind", "big small huge fat long short tall", "",
    "old young new modern", "open closed empty full broken ripe",
    "red blue green yellow white black brown orange gray pink purple blond striped",
    "French Italian local medieval", "wooden leather",
)  # fmt: skip


def _rank(english: str) -> int:
    ranks = [rank for rank, names in enumerate(_ORDER) if english in names.split()]
    return ranks[0] if ranks else _ORDER.index("")


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
            adjectives[english] = Adjective(english, forms, before, _rank(english))
    return adjectives


ADJECTIVES: dict[str, Adjective] = _read_adjectives()

# These change their masculine singular before a vowel sound.
BEFORE_VOWEL = {"beau": "bel", "nouveau": "nouvel", "vieux": "vieil"}

_COLORS = "red blue green yellow white black brown orange gray pink purple"
_MOODS = "happy sad tired hungry calm curious"
_TEMPERS = "famous rich kind serious shy brave blond French Italian athletic lazy proud"
_ADULT = f"young old tall {_MOODS} {_TEMPERS}"
_YOUTH = f"small young {_MOODS} {_TEMPERS}"
_FUR = "white black gray brown wet dirty"
_USED = "clean dirty broken strange"

# What each kind of noun can be, before the noun and after the verb alike.
_QUALITIES = {
    "man": f"elegant strong {_ADULT}",
    "woman": f"beautiful pretty elegant {_ADULT}",
    "worker": f"elegant new local strong {_ADULT}",
    "boy": f"tall strong {_YOUTH}",
    "girl": f"tall pretty {_YOUTH}",
    "child": f"beautiful {_YOUTH}",
    "baby": f"small beautiful fat pretty blond {_MOODS}",
    "person": f"elegant {_ADULT}",
    "pet": f"big small old young beautiful fat huge lazy {_FUR} {_MOODS}",
    "tiny": f"small old young beautiful fat white black gray brown {_MOODS}",
    "farm": f"big small old young beautiful fat lazy {_FUR} {_MOODS}",
    "fowl": f"small young beautiful fat white black brown wet {_MOODS}",
    "hunter": f"big small old young beautiful fat huge lazy wet strong dangerous {_MOODS}",
    "wild": f"big small old young beautiful fat wet dirty {_MOODS}",
    "pond": f"big small beautiful fat wet green brown {_MOODS}",
    "bird": f"small young beautiful fat wet white black gray brown {_MOODS}",
    "fruit": "small good bad beautiful huge fresh sweet delicious ripe expensive",
    "vegetable": "small good bad huge fresh delicious expensive",
    "pastry": "small good bad huge fresh sweet delicious hot expensive",
    "snack": "small good bad huge fresh delicious cold hot expensive",
    "treat": "good bad fresh dry sweet delicious expensive",
    "dish": "good bad fresh cold hot sweet delicious expensive",
    "drink": "good bad fresh cold hot sweet delicious expensive",
    "text": "long old new beautiful good bad strange serious",
    "paper": "big small old new strange open wet",
    "ball": f"big small old new striped {_COLORS} {_USED}",
    "toy": f"big small old new beautiful pretty wooden striped {_COLORS} expensive {_USED}",
    "container": f"big small old new {_COLORS} heavy empty full open closed expensive {_USED}",
    "tableware": f"big small old new beautiful striped {_COLORS} round full empty {_USED}",
    "tool": f"big small long old new {_COLORS} heavy {_USED}",
    "device": f"big small old new modern black white expensive {_USED}",
    "plant": "big small beautiful pretty huge fresh strange dry red yellow white pink purple",
    "seat": f"big small old new beautiful {_COLORS} wooden leather striped expensive {_USED}",
    "furniture": f"big small old new heavy white black wooden round modern expensive {_USED}",
    "opening": "big small old open closed wooden medieval dirty white red green blue round",
    "car": f"big small old new beautiful {_COLORS} clean dirty broken expensive empty",
    "cycle": f"big small old new beautiful {_COLORS} clean dirty broken expensive",
    "cart": "big small old new heavy wooden red green empty full dirty broken",
    "vessel": "big small old new long beautiful white red blue green empty full modern dirty",
    "instrument": "big small old new beautiful broken expensive strange white black",
    "building": """big small old beautiful new pretty huge modern white gray medieval strange
        famous empty closed open quiet""",
    "barrier": "long small old new huge white gray wooden medieval",
    "landmark": "big small old beautiful new huge modern white gray medieval strange famous",
    "tree": "big small old young beautiful huge dry strange",
    "height": "big small beautiful huge strange dangerous famous",
    "waters": "big small beautiful long quiet dangerous famous",
    "area": "big small beautiful old pretty huge quiet empty strange",
    "way": "long beautiful old quiet empty wet dirty dangerous",
    "room": "big small beautiful old pretty modern white empty quiet clean dirty",
    "ground": "beautiful dirty dry wet",
    "venue": "big small old modern empty famous",
    "outfit": f"long short old new beautiful {_COLORS} elegant striped dirty wet",
    "gown": f"long short old new beautiful pretty {_COLORS} elegant striped dirty wet",
    "accessory": f"big small old new beautiful {_COLORS} elegant dirty wet",
}
# ... but not these: French means something else by it ("une belle-mère", "un grand singe"), or
# nobody says so.
_UNSAID = {
    name: frozenset(names.split())
    for name, names in {
        "mother": "beautiful", "grandmother": "young pretty", "grandfather": "young",
        "kitten": "old young huge big", "puppy": "old young huge big", "monkey": "big",
        "squirrel": "big fat", "hedgehog": "big", "sled": "full empty", "frog": "old",
        "lemon": "sweet", "tomato": "sweet", "bean": "huge good", "egg": "bad",
        "water": "sweet good", "milk": "sweet", "tea": "fresh", "coffee": "fresh sweet",
        "juice": "hot", "lemonade": "hot", "jam": "hot cold", "salad": "hot sweet",
        "rice": "sweet", "fish": "sweet", "soup": "sweet", "meat": "sweet", "bread": "sweet",
        "cheese": "sweet", "chocolate": "dry", "ice cream": "hot", "letter": "good bad serious",
        "map": "good", "ball": "broken wooden pretty", "bag": "broken", "bottle": "open closed",
        "vase": "full", "pencil": "heavy", "bucket": "long", "flag": "long broken heavy",
        "basket": "long", "umbrella": "long heavy", "hammer": "long clean", "axe": "long",
        "lamp": "long", "clock": "long", "candle": "long heavy broken", "rose": "pink strange",
        "bed": "leather striped", "bench": "leather striped", "sofa": "wooden",
        "hammock": "leather wooden broken", "chair": "striped", "carpet": "wooden broken heavy",
        "mirror": "wooden heavy", "desk": "round", "shelf": "round", "wardrobe": "round",
        "store": "big", "mountain": "small", "hill": "huge", "school": "big", "house": "famous",
        "shed": "famous pretty medieval quiet", "tower": "quiet", "farm": "closed open",
        "fence": "medieval huge", "roof": "famous", "lake": "long", "beach": "old",
        "field": "old", "road": "old", "suit": "long short wet", "uniform": "long short",
        "pajamas": "long short", "trousers": "beautiful", "crown": "dirty wet", "glasses": "wet",
        "cap": "elegant", "helmet": "elegant beautiful wet", "mask": "elegant wet",
        "necklace": "dirty wet", "boots": "big small", "shoes": "big small",
        "garage": "beautiful pretty", "corridor": "pretty", "attic": "pretty",
    }.items()
}  # fmt: skip
# By noun: its adjectives.
QUALITIES: dict[str, tuple[Adjective, ...]] = {
    noun.english: tuple(
        ADJECTIVES[name]
        for name in _QUALITIES[noun.kind].split()
        if name not in _UNSAID.get(noun.english, ())
    )
    for noun in NOUNS.values()
    if noun.kind in _QUALITIES
}
# In French a new thing is "nouveau" before its noun but "neuf" after the verb, a good one "bon":
# leaving these out of predicates keeps one French word for one English word.
ATTRIBUTE_ONLY = frozenset({"new", "good", "bad", "local", "medieval", "leather"})
NO_DEGREE = frozenset(  # never with "very"
    f"{_COLORS} open closed broken wooden empty full huge delicious French Italian round "
    "striped tall blond".split()
)
# A closed door is not closed again: what the object of a verb is not.
DONE = {
    verb: frozenset(names.split())
    for verb, names in {
        "opening": "open empty", "closing": "closed", "breaking": "broken", "cleaning": "clean",
        "washing": "clean expensive", "cutting": "expensive", "repairing": "new clean",
        "writing": "bad old new", "drinking": "expensive", "eating": "expensive",
        "preparing": "expensive bad", "driving": "broken",
        "building": "old new open closed empty quiet famous medieval",
        "buying": "broken dirty wet bad", "selling": "broken dirty wet bad",
        "wearing": "big small", "climbing": "new", "pushing": "full",
    }.items()
}  # fmt: skip
# What nothing is at once: two of one set never describe the same noun.
CLASHES = tuple(
    frozenset(names.split())
    for names in (
        _COLORS,
        "big small huge fat",
        "tall small",
        "old new young modern",
        "medieval new modern",
        "short small long",
        "happy sad",
        "clean dirty",
        "clean broken",
        "new broken",
        "dry wet",
        "bad ripe",
        "dry fresh ripe",
        "good bad delicious",
        "bad fresh",
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
EYES = ("blue", "green", "gray", "brown", "beautiful")

# ------------------------------------------------------------------------------------- verbs

KINDS: dict[str, tuple[str, ...]] = {
    "adult": ("man", "woman", "worker", "person"),
    "youth": ("boy", "girl", "child"),
    "older": ("man", "woman", "worker", "person", "boy", "girl", "child"),
    "people": ("man", "woman", "worker", "person", "boy", "girl", "child", "baby"),
    "animals": ("pet", "tiny", "farm", "fowl", "hunter", "wild", "pond", "bird"),
    "beasts": ("pet", "tiny", "farm", "hunter", "wild"),
    "clothes": ("outfit", "gown", "accessory"),
    "land": ("height", "area", "way"),
    "goods": ("ball", "toy", "container", "tableware", "plant", "tool"),
    "food": ("fruit", "vegetable", "pastry", "snack"),
}

# english | french | subjects | objects | settings | manners
_VERBS = """
    sleeping | dort/dorment | people pet | | rest | quietly
    sleeping | dort/dorment | tiny farm fowl hunter wild pond bird | | outside | quietly
    running | court/courent | older beasts fowl | | outside road | quickly
    walking | marche | older beasts fowl | | outside road | slowly quietly
    swimming | nage | older | | water pool | slowly quickly
    swimming | nage | hunter pond | | water | slowly quickly
    dancing | danse | older | | outside public | happily slowly
    singing | chante | older | | outside home public | happily quietly
    laughing | rit/rient | people | | outside home public | happily
    smiling | sourit/sourient | people | | outside home public | quietly
    crying | pleure | people | | home public | quietly
    jumping | saute | older pet tiny farm hunter | | outside |
    working | travaille | adult | | work | quietly carefully slowly
    playing | joue | youth baby pet | | home outside | happily quietly
    resting | se_repose | people pet | | rest | quietly
    resting | se_repose | tiny farm fowl hunter wild pond | | outside | quietly
    training | se_entraîne | adult | | pitch outside |
    shouting | crie | older | | outside public | happily
    waiting | attend/attendent | older | | public road | quietly
    flying | vole | bird | | sky | slowly quickly
    eating | mange | people | food dish treat | meal | slowly quickly quietly
    eating | mange | tiny farm fowl wild bird | fruit vegetable | outside | slowly quickly
    eating | mange | pet | snack | outside | slowly quickly
    drinking | boit/boivent | older | drink | meal | slowly quickly
    reading | lit/lisent | older | text paper | home public rest | quietly slowly
    writing | écrit/écrivent | adult youth | text | home public | slowly carefully
    wearing | porte | older | outfit accessory |  |
    wearing | porte | woman girl | gown | |
    carrying | porte | older | container fruit | outside road | slowly carefully
    carrying | porte | adult | tool device | outside road | carefully
    holding | tient/tiennent | older | goods device | | carefully
    holding | tient/tiennent | baby | ball toy | |
    throwing | lance | older | ball | outside | happily
    hiding | cache | older | ball toy container fruit text | home inside | quickly quietly carefully
    washing | lave | older | car cycle pet farm | outside | carefully quickly
    washing | lave | older | tableware fruit | cook | carefully quickly
    cleaning | nettoie/nettoient | adult | furniture seat room opening tableware | | quickly
    painting | peint/peignent | adult | opening barrier seat building | | carefully slowly
    repairing | répare | adult | car cycle seat furniture instrument device opening | | carefully
    driving | conduit/conduisent | adult | car | road | carefully slowly quickly
    pushing | pousse | older | car cycle cart | road | slowly
    pulling | tire | older | cart | road | slowly
    watching | regarde | people animals | people animals vessel | outside | quietly
    looking_at | regarde | older | building plant tree land waters instrument | | quietly
    looking_for | cherche | older | goods text paper accessory pet | home inside | quickly
    listening_to | écoute | older | people | outside home | quietly happily
    listening_to | écoute | older | bird | outside | quietly happily
    waiting_for | attend/attendent | older | people car | road | quietly
    waiting_for | attend/attendent | pet | people | road | quietly
    talking_to | parle_à | older | people pet farm | outside home public | quietly slowly
    smiling_at | sourit_à/sourient_à | people | people | outside home public | happily
    playing_with | joue_avec | youth baby pet | pet tiny ball toy | home outside | happily quietly
    dancing_with | danse_avec | older | people | outside public | happily slowly
    jumping_over | saute_par-dessus | older farm | barrier | outside | quickly
    crossing | traverse | older beasts fowl | area way waters | | slowly quickly
    opening | ouvre | older | opening container | | slowly carefully
    closing | ferme | older | opening container | | slowly quickly
    cutting | coupe | adult | treat fruit vegetable | cook | carefully quickly
    preparing | prépare | adult | dish | cook | carefully happily
    buying | achète | older | food dish treat clothes plant tableware device | shop |
    selling | vend/vendent | adult | food dish treat clothes goods instrument | shop | happily
    feeding | nourrit/nourrissent | older | animals | outside | carefully
    helping | aide | older | people | outside home public | happily
    following | suit/suivent | older beasts bird | people animals | outside road | slowly quietly
    chasing | poursuit/poursuivent | pet | pet tiny bird | outside | quickly
    chasing | poursuit/poursuivent | hunter | tiny farm fowl wild bird | outside | quickly
    kissing | embrasse | adult | child baby pet | outside | happily
    photographing | photographie | older | people animals building area height tree | | carefully
    drawing | dessine | older | animals plant building tree land waters landmark | | slowly
    building | construit/construisent | man worker | building barrier landmark | | slowly
    watering | arrose | older | plant | outside | carefully
    picking | cueille | older | plant | outside | carefully
    climbing | escalade | older | height barrier | | slowly quickly
    climbing_up | grimpe_à | older | tree | | slowly quickly
    lifting | soulève | adult | container seat furniture | home | slowly
    visiting | visite | adult | building venue | | quickly
    breaking | casse | youth | toy | home |
    breaking | casse | older | tableware device | home |
"""
# Each does it with a thing of their own: several people, several things.
EACH = frozenset({"wearing", "driving", "writing", "riding", "buying", "selling"})
# Nobody does it with several things at once; several people may.
ONE_AT_A_TIME = frozenset(
    "wearing driving writing riding reading throwing cleaning painting repairing pushing pulling "
    "crossing opening closing building climbing lifting visiting breaking kissing washing".split()
) | {"jumping over", "climbing up", "dancing with", "playing with", "waiting for"}
# "Laughing at the zoo" is not what happens there.
NEVER_AT = frozenset({"laughing", "smiling", "shouting", "throwing"})
# "Il ne mange pas de pomme" is natural, "il ne traverse pas de lac" is not: others take "the".
MAY_LACK = frozenset(
    "eating drinking reading writing wearing carrying holding buying selling preparing "
    "picking".split()
)


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
        in kitchen dans, in bedroom dans, in living_room dans, in garage dans, in attic dans,
        in corridor dans, on balcony sur, on terrace sur""",
    "inside": "in bathroom dans, in office dans",
    "cook": "in kitchen dans, in restaurant dans",
    "meal": """
        in kitchen dans, in living_room dans, in restaurant dans, in garden dans, in park dans,
        on balcony sur, on terrace sur, on grass sur, under tree sous, at market à, at zoo à,
        at circus à, at station à""",
    "work": """
        in office dans, in library dans, in museum dans, in restaurant dans, at hospital à,
        at school à, at station à, at airport à, at market à, at farm à, in garden dans,
        in field dans, in forest dans, at circus à""",
    "show": """
        in theater dans, on stage sur, at circus à, in church dans, in restaurant dans,
        at school à, in street dans, in park dans, in garden dans, on terrace sur,
        in living_room dans, in bedroom dans""",
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
    "seated": """
        on grass sur, on sofa sur, on bench sur, on chair sur, under tree sous, on carpet sur,
        on balcony sur, on terrace sur, on boat sur, on train dans, on bus dans, on stage sur,
        in church dans, on rock sur""",
    "lying": """
        on grass sur, on bed sur, on sofa sur, on bench sur, in hammock dans, under tree sous,
        on carpet sur, on terrace sur, on beach sur""",
    "pitch": "at stadium à, in park dans, at school à, in garden dans",
    "water": "in river dans, in lake dans",
    "pool": "in swimming_pool dans",
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

FOR_ONE = frozenset({"chair", "hammock"})  # places that do not hold several

# Where things, animals and people are found when they do nothing.
WHERE = {
    kind: group
    for group, kinds in {
        "top": "ball toy container tableware tool text paper device",
        "parked": "car cycle cart",
        "outside": "farm fowl pet tiny hunter wild pond child",
        "public": "girl boy woman man worker person",
    }.items()
    for kind in kinds.split()
}

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
NOW = tuple(phrase for phrase in TIMES if phrase[0] in ("this morning", "now"))
OUTDOORS = frozenset({"outside", "road", "water", "sky", "pitch"})
MANNERS = {"slowly": "lentement", "quietly": "tranquillement", "carefully": "avec soin",
              "happily": "joyeusement", "quickly": "rapidement"}  # fmt: skip
OTHER_ADVERBS = ("now", "alone", "together", "very")
NUMBERS = {"two": "deux", "three": "trois", "four": "quatre", "five": "cinq", "six": "six",
           "seven": "sept", "eight": "huit", "nine": "neuf", "ten": "dix"}  # fmt: skip


def lemmas() -> frozenset[tuple[str, str]]:
    """The English content lemmas of the corpus, each as (part of speech, lemma)."""
    found = {("noun", english) for english in NOUNS}
    found |= {("adjective", english) for english in ADJECTIVES}
    found |= {("verb", verb.english) for verb in VERBS} | {("verb", "riding"), ("verb", "having")}
    found |= {("adverb", english) for english in (*MANNERS, *OTHER_ADVERBS)}
    found |= {("number", english) for english in NUMBERS}
    found |= {("noun", english.split()[-1]) for english, *_ in TIMES + WEATHER if english != "now"}
    return frozenset(found)
