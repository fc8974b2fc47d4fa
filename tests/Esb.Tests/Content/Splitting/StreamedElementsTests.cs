using System.Text;
using System.Xml.Linq;
using Esb.Content.Splitting;
using Esb.Core.Configuration;
using Esb.Core.Configuration.Settings;
using Esb.Core.Errors;
using Esb.Core.Messages;

namespace Esb.Tests.Content.Splitting;

/// <summary>Elements of XML that is not in memory: the same as of its tree.</summary>
[CancelAfter(60_000)]
public sealed class StreamedElementsTests
{
    private const string Orders = """
        <?xml version="1.0"?>
        <!-- orders -->
        <o:orders xmlns:o="urn:o" xmlns="urn:d" xmlns:t="urn:t">
          <head><o:order>no</o:order></head>
          <o:order id="1" t:k="t:v">&lt;Zwölf&gt; <b/><c xmlns:n="urn:n" n:a="1">x<![CDATA[<y>]]></c></o:order><o:order id="2"/>
          <order xmlns="">3</order>
          <o:list><o:order id="4">in a list</o:order></o:list>
          <o:order id="5"><o:order>inner</o:order></o:order>
        </o:orders>
        """;

    [TestCase("/o:orders/o:order", 3)]
    [TestCase("/o:orders/order", 1)]
    [TestCase("/*/*/o:order", 2 + 1)]
    [TestCase("/o:orders/o:*", 4)]
    [TestCase("/o:orders", 1)]
    [TestCase("/orders/order", 0)]
    public void Elements_of_a_stream_are_those_of_the_tree(string xpath, int count)
    {
        using var content = Configure();
        var splitter = Compile(content, xpath);
        var bytes = Encoding.UTF8.GetBytes(Orders);
        GeneratedStream? stream = null;

        var tree = splitter.Split(MessageBody.FromBytes(bytes)).Select(Shown).ToList();
        var streamed = splitter
            .Split(MessageBody.FromSource(() => stream = GeneratedStream.Of(bytes, mostAtOnce: 7), bytes.Length))
            .Select(Shown)
            .ToList();

        Assert.That(splitter.CanStream, Is.True);
        Assert.That(streamed, Is.EqualTo(tree).Using<(int Line, string Xml)>(AreSame));
        Assert.That(streamed, Has.Count.EqualTo(count));
        Assert.That(stream!.IsDisposed, Is.True);
    }

    [
        TestCase("//o:order"),
        TestCase("/o:orders/o:order[@id = 1]"),
        TestCase("o:orders/o:order"),
        TestCase("/o:orders/descendant::o:order"),
        TestCase("/o:orders/o:order | /o:orders/o:list")
    ]
    public void Path_that_needs_the_tree_does_not_stream(string xpath)
    {
        using var content = Configure();

        Assert.That(Compile(content, xpath).CanStream, Is.False);
    }

    [TestCase("<a><b>1</b><b>2", "ESB-XML-SYNTAX", 1)]
    [TestCase("<a><b>1</b><b>2</c></a>", "ESB-XML-SYNTAX", 1)]
    [TestCase("<!DOCTYPE a [<!ENTITY x 'y'>]><a><b>1</b></a>", "ESB-XML-DTD", 0)]
    [TestCase("", "ESB-XML-EMPTY", 0)]
    public void Stream_that_is_no_sound_xml_ends_there_and_the_elements_before_stand(string text, string code, int count)
    {
        using var content = Configure();
        var items = new List<SplitItem>();

        var fault = Assert.Throws<EsbException>(() => items.AddRange(Lazily(Split(content, "/a/b", Encoding.UTF8.GetBytes(text)), items)))!;

        Assert.That((fault.Code, items.Count), Is.EqualTo((code, count)), fault.Message);
    }

    [Test]
    public void Element_that_is_too_large_or_has_too_many_attributes_is_refused()
    {
        using var content = Configure("""{ "maxBodySize": "64KiB", "xml": { "attributes": 100 } }""");
        var large = $"<a><b>{new string('x', 70_000)}</b></a>";
        var wide = $"<a><b {string.Concat(Enumerable.Range(0, 50_000).Select(number => $"a{number}='1=>' "))}/></a>";

        Assert.That(CodeOf(large), Is.EqualTo("ESB-XML-LIMIT"));
        Assert.That(CodeOf(wide), Is.EqualTo("ESB-XML-LIMIT"));

        string CodeOf(string text) =>
            Assert.Throws<EsbException>(() => Split(content, "/a/b", Encoding.UTF8.GetBytes(text)).ToList())!.Code;
    }

    [Test]
    public void Document_of_any_length_is_divided_with_a_part_of_it_in_memory()
    {
        const int Blocks = 1_000; // about 100 MB
        var block = Encoding.UTF8.GetBytes(string.Concat(Enumerable.Repeat($"<b k='v'>{new string('x', 980)}</b>\n", 100)));
        using var content = Configure();
        using var stream = new GeneratedStream(number =>
            number switch
            {
                0 => "<a>"u8.ToArray(),
                Blocks + 1 => "</a>"u8.ToArray(),
                > Blocks + 1 => null,
                _ => block,
            }
        );
        var before = GC.GetTotalMemory(forceFullCollection: true);
        var (count, readAtFirst, most) = (0, 0L, 0L);

        foreach (var _ in Compile(content, "/a/b").Split(MessageBody.FromSource(() => stream, 0)))
        {
            if (count++ == 0)
                readAtFirst = stream.BytesRead;
            if (count % 10_000 == 0)
                most = Math.Max(most, GC.GetTotalMemory(forceFullCollection: true) - before);
        }

        Assert.That(count, Is.EqualTo(100 * Blocks));
        Assert.That(readAtFirst, Is.LessThan(stream.BytesRead / 100), "the first element before 1 % is read");
        Assert.That(most, Is.LessThan(8 << 20), "bytes in memory");
    }

    private static IEnumerable<SplitItem> Lazily(IEnumerable<SplitItem> source, List<SplitItem> items)
    {
        foreach (var item in source)
            items.Add(item);
        return [];
    }

    private static (int Line, string Xml) Shown(SplitItem item) => (item.Line, item.Body.ReadText());

    private static bool AreSame((int Line, string Xml) actual, (int Line, string Xml) expected) =>
        actual.Line == expected.Line && XNode.DeepEquals(Sorted(actual.Xml), Sorted(expected.Xml));

    // The order of attributes, and how a text is written, are not content.
    private static XElement Sorted(string xml) => Sorted(XElement.Parse(xml, LoadOptions.PreserveWhitespace));

    private static XElement Sorted(XElement element) =>
        new(
            element.Name,
            element.Attributes().OrderBy(attribute => attribute.Name.ToString(), StringComparer.Ordinal),
            element
                .Nodes()
                .Select(node =>
                    node switch
                    {
                        XElement inner => (object)Sorted(inner),
                        XText text => text.Value,
                        _ => node,
                    }
                )
        );

    private static ConfiguredContent Configure(string limits = "{}") =>
        SomeContent.Configure($$"""{ "limits": {{limits}}, "namespaces": { "o": "urn:o" } }""");

    private static IEnumerable<SplitItem> Split(ConfiguredContent content, string xpath, byte[] bytes) =>
        Compile(content, xpath).Split(MessageBody.FromSource(() => GeneratedStream.Of(bytes, mostAtOnce: 1_000), bytes.Length));

    private static IMessageSplitter Compile(ConfiguredContent content, string xpath) =>
        content.Get<SplitterCompiler>().ByXPath(new PlainSettings(), xpath, new ConfigErrors())!;

    private sealed record PlainSettings : SettingsRecord;
}
