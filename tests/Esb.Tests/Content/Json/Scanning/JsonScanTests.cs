using System.Text;
using Esb.Content.Json.Paths;
using Esb.Content.Json.Scanning;
using Esb.Core.Errors;
using Esb.Core.Messages;

namespace Esb.Tests.Content.Json.Scanning;

[TestFixture]
public sealed class JsonScanTests
{
    private JsonPathSet _paths = null!;

    [SetUp]
    public void SetUp() => _paths = new JsonPathSet();

    [TestCase("$.order.type", "gold")]
    [TestCase("$.order['id']", 7.0)]
    [TestCase("$['order'].lines[1]", "b")]
    [TestCase("$.*.type", "gold")]
    [TestCase("$.order.note", null, TestName = "What an object that has ended does not have, it will never have")]
    [TestCase("$.order.type.code", null, TestName = "A text has no members")]
    [TestCase("$.order.lines[9]", null)]
    [TestCase("$.order.lines", "[\"a\",\"b\"]")]
    [TestCase("$.order.lines[-1]", "b", TestName = "A position from the end is looked up in its array")]
    [TestCase("$.order[?@ == 7]", 7.0)]
    [TestCase("$.order..type", "gold")]
    public void Nothing_behind_the_deciding_value_is_read(string path, object? expected)
    {
        var question = Compile(path)!;

        var answer = Scan("""{"order":{"type":"gold","id":7,"lines":["a","b"]},"order":1,broken""").Answer(question);

        Assert.That(answer, Is.EqualTo(expected));
    }

    [Test]
    public void That_an_object_is_there_its_first_byte_tells()
    {
        var question = Compile("$.order", wantsText: false)!;

        Assert.That(Scan("""{"order":{broken""").Answer(question), Is.Not.Null);
    }

    [TestCase("$.missing")]
    [TestCase("$.order.lines[*].sku")]
    [TestCase("$.order")]
    public void Error_before_the_deciding_value_is_told_to_everyone_who_asks_beyond_it(string path)
    {
        var (question, first) = (Compile(path)!, Compile("$.order.type")!);
        var scan = Scan("""{"order":{"type":"gold","lines":[broken""");

        for (var i = 0; i < 2; i++)
            Assert.That(
                () => scan.Answer(question),
                Throws.InstanceOf<EsbException>().With.Property(nameof(EsbException.Code)).EqualTo("ESB-JSON-SYNTAX")
            );
        Assert.That(scan.Answer(first), Is.EqualTo("gold"));
    }

    [TestCase("""{"a":1,"a":2,"type":"gold"}""", "ESB-JSON-DUPKEY")]
    [TestCase("""{"a":{"x":1,"\u0078":2},"type":"gold"}""", "ESB-JSON-DUPKEY")]
    [TestCase("""{"a":01,"type":"gold"}""", "ESB-JSON-NUMBER")]
    [TestCase("{\"a\":\"\xFF\",\"type\":\"gold\"}", "ESB-JSON-ENCODING")]
    [TestCase("", "ESB-JSON-EMPTY")]
    [TestCase("{} {}", "ESB-JSON-SYNTAX")]
    public void All_that_stands_before_the_deciding_value_is_checked(string document, string code)
    {
        var question = Compile("$.type")!;
        var scan = _paths.Scan(MessageBody.FromBytes(Encoding.Latin1.GetBytes(document)));

        Assert.That(() => scan.Answer(question), Throws.InstanceOf<EsbException>().With.Property(nameof(EsbException.Code)).EqualTo(code));
    }

    [Test]
    public void Fault_in_a_beginning_that_ends_within_a_character_is_the_same_as_in_all_of_it(
        [Values("€", "é", "\U0001F600")] string character,
        [Values(1, 2, 3)] int missing
    )
    {
        var bytes = Encoding.UTF8.GetBytes("{\"a\":x,\"b\":\"" + character);
        var beginning = MessageBody.FromBeginning(
            bytes.AsMemory(0, bytes.Length - Math.Min(missing, Encoding.UTF8.GetByteCount(character)))
        );
        var question = Compile("$.type")!;

        Assert.That(
            () => _paths.Scan(beginning).Answer(question),
            Throws.InstanceOf<EsbException>().With.Property(nameof(EsbException.Code)).EqualTo("ESB-JSON-SYNTAX")
        );
    }

    [TestCase("$..type")]
    [TestCase("$[-1]")]
    [TestCase("$['a','b']")]
    [TestCase("$[1:]")]
    [TestCase("$.lines[?@.sku == $.wanted]")]
    public void What_needs_the_whole_tree_is_left_to_it_and_asks_nothing(string path)
    {
        Assert.That(Compile(path), Is.Null);
        Assert.That(_paths.Count, Is.Zero);
    }

    [Test]
    public void Questions_in_any_order_are_answered_by_one_pass()
    {
        var (last, first, none) = (Compile("$.lines[2]")!, Compile("$.lines[0]")!, Compile("$.lines[3]")!);
        var scan = Scan("""{"lines":["a","b","c"]}""");

        Assert.That((scan.Answer(last), scan.Answer(first), scan.Answer(none)), Is.EqualTo(((object)"c", (object)"a", (object?)null)));
    }

    [Test]
    public void A_value_that_is_no_text_fails_those_who_want_it_and_nobody_else()
    {
        var (half, whole) = (Compile("$.half")!, Compile("$.whole")!);
        var scan = Scan("""{"half":"\ud800","whole":"x"}""");

        Assert.That(scan.Answer(whole), Is.EqualTo("x"));
        Assert.That(
            () => scan.Answer(half),
            Throws.InstanceOf<EsbException>().With.Property(nameof(EsbException.Code)).EqualTo("ESB-JSON-ENCODING")
        );
    }

    private JsonQuestion? Compile(string path, bool wantsText = true) => JsonScanCompiler.Compile(JsonPath.Parse(path), wantsText, _paths);

    private JsonScan Scan(string document) => _paths.Scan(MessageBody.FromText(document));
}
