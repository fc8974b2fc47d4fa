using System.Text;
using System.Xml;
using Microsoft.AspNetCore.Http;

namespace Esb.IntegrationTests.Speed;

/// <summary>The least that a service of SOAP in .NET can be: the envelope parsed to its end, the child of Body found, a fixed answer.</summary>
internal static class PlainSoap
{
    public const string Answer = """<OrderResponse xmlns="urn:shop"><number>7</number></OrderResponse>""";

    private const string Namespace = "http://schemas.xmlsoap.org/soap/envelope/";

    private static readonly XmlReaderSettings Settings = new() { DtdProcessing = DtdProcessing.Prohibit, XmlResolver = null };

    /// <summary>An order of 2 KB.</summary>
    public static string Order { get; } =
        $"""<Order xmlns="urn:shop"><sku>{string.Concat(Enumerable.Repeat("A-0042 of the shop, ", 97))}</sku><quantity>2</quantity></Order>""";

    public static string Envelope(string body) => $"""<s:Envelope xmlns:s="{Namespace}"><s:Body>{body}</s:Body></s:Envelope>""";

    public static async Task AnswerAsync(HttpContext context)
    {
        using var body = new MemoryStream();
        await context.Request.Body.CopyToAsync(body, context.RequestAborted);
        context.Response.StatusCode = ChildOf(body.ToArray()) == "Order" ? 200 : 500;
        var answer = Encoding.UTF8.GetBytes(Envelope(Answer));
        (context.Response.ContentType, context.Response.ContentLength) = ("text/xml; charset=utf-8", answer.Length);
        await context.Response.Body.WriteAsync(answer, context.RequestAborted);
    }

    /// <summary>Returns the name of the child of Body, once the envelope is read to its end.</summary>
    public static string? ChildOf(byte[] envelope)
    {
        using var reader = XmlReader.Create(new MemoryStream(envelope), Settings);
        string? child = null;
        var isBody = false;
        while (reader.Read())
        {
            if (reader.NodeType != XmlNodeType.Element)
                continue;
            if (isBody && reader.Depth == 2)
                child = reader.LocalName;
            isBody |= reader is { LocalName: "Body", NamespaceURI: Namespace, Depth: 1 };
        }

        return child;
    }
}
