//! Words that say little about what a text is about: articles, pronouns, prepositions, auxiliaries and the like.

/// Languages by name, with their words.
pub const LANGUAGES: &[(&str, &str)] = &[
    ("english", ENGLISH),
    ("german", GERMAN),
    ("french", FRENCH),
    ("spanish", SPANISH),
    ("italian", ITALIAN),
    ("portuguese", PORTUGUESE),
    ("dutch", DUTCH),
];

const ENGLISH: &str = "\
a about above across after again against ago all almost alone along already also although always am among an and \
another any anybody anyone anything anywhere are aren't around as at away back be became because become becomes been \
before behind being below beside between beyond both but by came can can't cannot come comes could couldn't did \
didn't do does doesn't doing don't done down during each either else enough even ever every everybody everyone \
everything everywhere except few for from further gave get gets getting give given gives go goes going gone got had \
hadn't has hasn't have haven't having he he'd he'll her here hers herself he him himself his how however i i'd i'll \
i'm i've if in indeed instead into is isn't it it'd it'll its itself just keep kept last least less let like likely \
made make makes making many may maybe me might mine more most much must my myself near nearly neither never next no \
nobody none nor not nothing now nowhere of off often on once one only onto or other others our ours ourselves out \
over own per perhaps please put quite rather really said same saw say says see seem seemed seems seen several shall \
she she'd she'll should shouldn't since so some somebody someone something sometimes somewhere still such take taken \
than that the their theirs them themselves then there therefore these they they'd they'll they're they've thing \
things this those though through thus to together too took toward towards under until up upon us use used uses using \
very via was wasn't way we we'd we'll we're we've well went were weren't what whatever when where whether which while \
who whoever whole whom whose why will with within without won't would wouldn't yes yet you you'd you'll you're \
you've your yours yourself yourselves";

const GERMAN: &str = "\
aber alle allem allen aller alles als also am an andere anderem anderen anderer anderes auch auf aus bei beim bereits \
bin bis bist da dabei dadurch dafür dagegen daher damit danach daneben dann daran darauf daraus darf darin darüber \
darum das dass dasselbe davon davor dazu dein deine deinem deinen deiner dem den denen denn der deren derselbe des \
deshalb dessen desto deswegen dich die dies diese dieselbe diesem diesen dieser dieses dir doch dort du durch dürfen \
eben ebenso ein eine einem einen einer eines einfach einige einigen einiger einmal er erst erste ersten es etwa etwas \
euch euer eure für ganz gar gegen geht gewesen gibt habe haben hat hatte hatten hätte hätten hier hin hinter ich ihm \
ihn ihnen ihr ihre ihrem ihren ihrer ihres im immer in indem ins ist ja jede jedem jeden jeder jedes jedoch jene \
jenem jenen jener jetzt kann kein keine keinem keinen keiner kommen kommt können könnte könnten lassen machen macht \
mal man manche mehr mein meine meinem meinen meiner mich mir mit muss müssen musste nach nachdem nein nicht nichts \
noch nun nur ob oder ohne schon sehr sei seien sein seine seinem seinen seiner seines seit selbst sich sie sind so \
sogar solche solchen soll sollen sollte sollten sondern sonst sowie über um und uns unser unsere unserem unseren \
unserer unter viel viele vielen vom von vor während war waren warum was weder weg weil weiter welche welchem welchen \
welcher welches wenig weniger wenn wer werde werden wie wieder will wir wird wo wohl wollen wollte wurde wurden würde \
würden zu zum zur zwar zwischen";

const FRENCH: &str = "\
à ai ainsi alors après as au aucun aucune aujourd'hui auquel aussi autre autres aux avaient avait avant avec avez \
avoir avons ayant beaucoup bien c'est ça car ce ceci cela celle celles celui cependant certains ces cet cette ceux \
chaque chez comme comment d'un d'une dans de déjà depuis des dès désormais deux devant doit donc dont du durant elle \
elles en encore enfin entre envers es est et étaient était étant été être eu eux fait faire fois font furent fut hors \
ici il ils j'ai je jusqu'à jusque l'on l'un l'une la là laquelle le lequel les lesquels leur leurs lors lorsque lui \
ma mais malgré me même mêmes mes mieux moi moins mon n'a n'est n'était ne ni non nos notre nous on ont ou où par \
parce parmi pas pendant peu peut plus plusieurs pour pourquoi près pu puis qu'elle qu'elles qu'il qu'ils qu'on qu'un \
qu'une quand que quel quelle quelles quelque quelques quels qui quoi s'est s'il sa sans se selon sera seront ses si \
soit son sont sous sur ta tandis te tel telle tels tes toi ton toujours tous tout toute toutes très trop tu un une va \
vers voici voilà vont vos votre vous y";

const SPANISH: &str = "\
a actualmente ahora al algo algún alguna algunas alguno algunos allí ante antes aquel aquella aquellos aquí así aún \
aunque bajo bien cada casi como cómo con contra cual cuál cuales cualquier cuando cuándo cuanto de debe del desde \
después donde dónde dos durante e el él ella ellas ello ellos en entonces entre era eran eres es esa esas ese eso \
esos esta está estaba estaban estado están estar estas este esto estos estoy fin fue fueron ha haber había habían han \
hasta hay haya he hemos hizo hoy incluso la las le les lo los luego mas más me menos mi mí mientras mis misma mismas \
mismo mismos mucha muchas mucho muchos muy nada ni ningún ninguna no nos nosotros nuestra nuestro nunca o os otra \
otras otro otros para pero poca poco pocos por porque pues que qué quien quién quienes se sea según ser será si sí \
sido siempre siendo sin sino sobre sólo son soy su sus tal también tampoco tan tanto te tener tenía ti tiene tienen \
toda todas todavía todo todos tras tu tú tus un una unas uno unos usted ustedes va vamos van y ya yo";

const ITALIAN: &str = "\
a ad agli ai al alcune alcuni alla alle allo allora altra altre altri altro anche ancora avere aveva avevano c'è che \
chi ci ciò cioè circa coi col come con contro cosa così cui da dagli dai dal dalla dalle dallo dei degli del dell \
della delle dello dentro deve di dopo dove dunque e è ecco ed egli ella era erano essa esse essere essi fa fare fino \
fra fu furono già gli ha hai hanno ho i il in infatti infine insieme invece io la là le lei li lo loro lui ma mai me \
mentre mi mia mie miei mio molta molte molti molto ne né negli nei nel nell nella nelle nello nessun nessuno niente \
noi non nostra nostre nostri nostro nulla o ogni oltre oppure ora per perché perciò però più poco poi prima proprio \
può qual quale quali quando quanto quasi quella quelle quelli quello questa queste questi questo qui quindi sarà se \
secondo sei sempre senza si sia siamo siano siete solo sono sopra sotto sta stata state stati stato stesso su sua \
sue sugli sui sul sulla sulle suo suoi tale tra tu tua tuo tutta tutte tutti tutto un una uno vi via voi vostra \
vostro";

const PORTUGUESE: &str = "\
a à agora aí ainda além algo alguém algum alguma algumas alguns ali ante antes ao aos apenas após aquela aquelas \
aquele aqueles aqui aquilo as às assim até bem cada com como contra contudo da daquele das de dela delas dele deles \
depois desde dessa desse desta deste deve disso do dois dos e é ela elas ele eles em embora enquanto então entre era \
eram essa essas esse esses esta está estamos estão estas estava estavam este estes estou eu faz foi foram fosse há \
havia isso isto já la lá lhe lhes lo logo mais mas me meio menos mesma mesmo meu meus minha minhas muita muitas muito \
muitos na nada não nas nem nenhum nenhuma nessa nesse nesta neste no nos nós nossa nossas nosso nossos num numa nunca \
o onde os ou outra outras outro outros para pela pelas pelo pelos per perante pode podem pois por porém porque pouco \
qual quais qualquer quando quanto quase que quem se seja sem sempre sendo ser será seu seus si sido sim só sob sobre \
sua suas tal também tanto tão te tem têm tendo ter teu tinha toda todas todo todos tu tua tudo um uma umas uns vai \
vão vez vezes você vocês vos";

const DUTCH: &str = "\
aan achter al alle alleen alles als altijd ander andere anders bij binnen boven bovendien daar daarbij daarna daarom \
dan dat de deze die dit doch doen door dus echter een eens eerst elk elke en er erg even geen geweest haar had hadden \
hebben hebt heeft heel hem hen het hier hij hoe hun iedere iemand iets ik in is ja je jij jouw jullie kan konden \
kunnen kunt later maar mag me mee meer meest men met mij mijn misschien moest moet moeten mogen na naar nadat niemand \
niet niets nog nooit nu of om omdat onder ons onze ook op opnieuw over reeds samen sinds sommige steeds tegen terwijl \
toch toen tot tussen tijdens uit uw vaak van vanaf veel verder via vooral voor voordat waar waarom waren was wat we \
weer wel welke werd werden wie wij wil wilde worden wordt zal ze zeer zei zelf zich zij zijn zo zoals zonder zou \
zouden";
