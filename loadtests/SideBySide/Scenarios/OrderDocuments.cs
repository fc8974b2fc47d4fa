using System.Text;
using System.Xml.Linq;

namespace SideBySide.Scenarios;

/// <summary>The order messages that the published rounds of service buses were measured with, in four sizes, with plain and with reversed
/// names.</summary>
internal sealed class OrderDocuments
{
    public static readonly IReadOnlyDictionary<string, int> Sizes = new Dictionary<string, int>
    {
        ["0.5K"] = 512,
        ["1K"] = 1_024,
        ["10K"] = 10_240,
        ["100K"] = 102_400,
    };

    private static readonly string[][] Orders =
    [
        ["IBM", "buyer1", "140.34", "2000"],
        ["MSFT", "buyer2", "23.56", "8030"],
        ["SUN", "buyer3", "14.56", "5000000"],
    ];

    private readonly string _folder;

    public OrderDocuments(string folder)
    {
        _folder = folder;
        foreach (var (label, bytes) in Sizes)
        {
            File.WriteAllText(Plain(label), Write(Orders, bytes, Name));
            File.WriteAllText(Reversed(label), Write(Orders, bytes, name => new string([.. Name(name).Reverse()])));
        }

        foreach (var (order, index) in Orders.Select((order, index) => (order, index)))
        {
            File.WriteAllText(Beginning(order[0]), Write([.. Orders[index..], .. Orders[..index]], Sizes["1K"], Name));
        }
    }

    /// <summary>A file with <c>buyStocks</c> of that size.</summary>
    public string Plain(string size) => Path.Combine(_folder, $"buy-{size}.xml");

    /// <summary>The same with every name written backwards.</summary>
    public string Reversed(string size) => Path.Combine(_folder, $"yub-{size}.xml");

    /// <summary>A file whose first order is for that symbol.</summary>
    public string Beginning(string symbol) => Path.Combine(_folder, $"buy-{symbol}.xml");

    /// <summary>What is wrong with an answer that must be equal to a file, byte for byte; null where nothing is.</summary>
    public static Func<byte[], string?> EqualTo(string file) =>
        answer =>
            answer.AsSpan().SequenceEqual(File.ReadAllBytes(file))
                ? null
                : $"the answer of {answer.Length} bytes is not {Path.GetFileName(file)}";

    /// <summary>The same for one that may be written differently: a declaration, prefixes.</summary>
    public static Func<byte[], string?> SameXmlAs(string file) =>
        answer =>
        {
            using var stream = new MemoryStream(answer);
            return XNode.DeepEquals(WithoutPrefixes(XDocument.Load(stream)), WithoutPrefixes(XDocument.Parse(File.ReadAllText(file))))
                ? null
                : $"the answer does not say what {Path.GetFileName(file)} says";
        };

    // Which prefixes are declared where is a matter of taste; names keep their namespaces.
    private static XElement WithoutPrefixes(XDocument document)
    {
        document.Descendants().Attributes().Where(attribute => attribute.IsNamespaceDeclaration).Remove();
        return document.Root!;
    }

    private static string Name(string name) => name;

    /// <summary>As many orders as the size has room for, at least one.</summary>
    internal static string Write(string[][] orders, int bytes, Func<string, string> name)
    {
        string[] fields = [name("symbol"), name("buyerID"), name("price"), name("volume")];
        var head =
            "<soapenv:Envelope xmlns:soapenv=\"http://schemas.xmlsoap.org/soap/envelope/\" xmlns:xsd=\"http://services.samples/xsd\">"
            + $"<soapenv:Body><xsd:{name("buyStocks")}>";
        var tail = $"</xsd:{name("buyStocks")}></soapenv:Body></soapenv:Envelope>";
        var text = new StringBuilder(head);
        for (var index = 0; ; index++)
        {
            var values = fields.Zip(orders[index % orders.Length], (field, value) => $"<{field}>{value}</{field}>");
            var order = $"<{name("order")}>{string.Concat(values)}</{name("order")}>";
            if (index > 0 && text.Length + order.Length + tail.Length > bytes)
                return text.Append(tail).ToString();
            text.Append(order);
        }
    }
}
