using System.Text;

namespace Esb.Benchmarks;

/// <summary>Order messages of a size, with the names of the mediation sample.</summary>
internal static class SomeOrders
{
    private const string Head = """<soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/" xmlns:xsd="http://services.samples/xsd"><soapenv:Body><xsd:buyStocks>""";
    private const string Tail = "</xsd:buyStocks></soapenv:Body></soapenv:Envelope>";

    private static readonly string[] Rows =
    [
        "<order><symbol>IBM</symbol><buyerID>buyer1</buyerID><price>140.34</price><volume>2000</volume></order>",
        "<order><symbol>MSFT</symbol><buyerID>buyer2</buyerID><price>23.56</price><volume>8030</volume></order>",
        "<order><symbol>SUN</symbol><buyerID>buyer3</buyerID><price>14.56</price><volume>5000000</volume></order>",
    ];

    public static byte[] OfSize(int bytes)
    {
        var text = new StringBuilder(Head);
        for (var i = 0; text.Length + Tail.Length + Rows[i % Rows.Length].Length <= bytes; i++) text.Append(Rows[i % Rows.Length]);
        return Encoding.UTF8.GetBytes(text.Append(Tail).ToString());
    }
}
