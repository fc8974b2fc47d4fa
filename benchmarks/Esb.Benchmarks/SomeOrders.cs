using System.Text;

namespace Esb.Benchmarks;

/// <summary>Bodies of a wanted size whose deciding value, the symbol of the first order, comes first.</summary>
internal static class SomeOrders
{
    public static byte[] Xml(int bytes) =>
        Build(
            bytes,
            "<soapenv:Envelope xmlns:soapenv=\"http://schemas.xmlsoap.org/soap/envelope/\" "
                + "xmlns:xsd=\"http://services.samples/xsd\"><soapenv:Body><xsd:buyStocks>",
            "<order><symbol>IBM</symbol><buyerID>asankha</buyerID><price>140.34</price><volume>2000</volume></order>",
            "",
            "</xsd:buyStocks></soapenv:Body></soapenv:Envelope>"
        );

    public static byte[] Json(int bytes) =>
        Build(bytes, "{\"orders\":[", "{\"symbol\":\"IBM\",\"buyerID\":\"asankha\",\"price\":140.34,\"volume\":2000}", ",", "]}");

    private static byte[] Build(int bytes, string start, string order, string separator, string end)
    {
        var text = new StringBuilder(start).Append(order);
        while (text.Length + order.Length + separator.Length + end.Length <= bytes)
            text.Append(separator).Append(order);
        return Encoding.UTF8.GetBytes(text.Append(end).ToString());
    }
}
