using System.Xml;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Http;

namespace SideBySide.Bare;

/// <summary>The least that a service of SOAP in .NET can be: the envelope parsed to its end, the child of Body found, a fixed
/// answer.</summary>
internal static class BareSoap
{
    private const string Namespace = "http://schemas.xmlsoap.org/soap/envelope/";

    private static readonly XmlReaderSettings Settings = new() { DtdProcessing = DtdProcessing.Prohibit, XmlResolver = null };
    private static readonly byte[] Answer =
        """<soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body><OrderResponse xmlns="urn:shop"><number>7</number></OrderResponse></soap:Body></soap:Envelope>"""u8.ToArray();

    public static void Map(WebApplication application) =>
        application.MapPost(
            "/soap",
            async context =>
            {
                using var body = new MemoryStream();
                await context.Request.Body.CopyToAsync(body);
                body.Position = 0;
                context.Response.StatusCode = ChildOf(body) == "Order" ? 200 : 500;
                (context.Response.ContentType, context.Response.ContentLength) = ("text/xml; charset=utf-8", Answer.Length);
                await context.Response.Body.WriteAsync(Answer);
            }
        );

    private static string? ChildOf(Stream body)
    {
        using var reader = XmlReader.Create(body, Settings);
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
