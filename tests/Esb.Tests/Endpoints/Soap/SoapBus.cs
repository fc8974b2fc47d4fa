using System.Net.Http.Headers;
using System.Text;
using System.Xml.Linq;
using Esb.Core.Messages;
using Esb.Core.Processes;
using Esb.Endpoints.Soap;
using Esb.Endpoints.Soap.Envelopes;
using Esb.Tests.Endpoints.Http;
using Esb.Tests.Fakes;

namespace Esb.Tests.Endpoints.Soap;

/// <summary>A soap-inbound endpoint <c>shop</c> on a free port, whose processes answer and remember.</summary>
internal sealed class SoapBus : IAsyncDisposable
{
    public const string Order = """<Order xmlns="urn:shop"><sku>A-1</sku><quantity>2</quantity></Order>""";
    public const string OrderResponse = """<OrderResponse xmlns="urn:shop"><number>7</number></OrderResponse>""";

    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("esb-soap-");

    public SoapBus(TimeProvider? time = null, ToldAuditGate? gate = null)
    {
        Http = new HttpBus
        {
            Types = services => services.AddSoapEndpoints(),
            Time = time ?? TimeProvider.System,
            AuditGate = gate ?? new ToldAuditGate(),
        };
        Http.With("order", (context, token) => RunAsync(context, token)).With("notify", (context, token) => RunAsync(context, token));
        Answer = context =>
            context.Message = context.Message with { Body = MessageBody.FromText(OrderResponse), ContentType = "application/xml" };
    }

    public HttpBus Http { get; }

    /// <summary>What the processes do with a message.</summary>
    public Action<MessageContext> Answer { get; set; }

    /// <summary>The messages that reached a process.</summary>
    public List<(string Body, string? Party, IReadOnlyDictionary<string, object?> Properties)> Messages { get; } = [];

    public string Url => $"{Http.Address.OriginalString}/shop";

    /// <summary>Writes a file into the folder of the WSDL.</summary>
    public string Write(string name, string text)
    {
        var path = Path.Combine(_folder.FullName, name);
        Directory.CreateDirectory(Path.GetDirectoryName(path)!);
        File.WriteAllText(path, text.TrimStart());
        return path;
    }

    public async Task<SoapBus> StartAsync(string? wsdl = null, string settings = "", string more = "")
    {
        Read(wsdl, settings, more);
        Assert.That(Http.Errors.All, Is.Empty);
        await Http.StartPartsAsync();
        return this;
    }

    public void Read(string? wsdl = null, string settings = "", string more = "")
    {
        var path = Write("shop.wsdl", wsdl ?? SomeWsdl.Document());
        var target =
            settings.Contains("\"process\"", StringComparison.Ordinal)
            || settings.Contains("\"publish\"", StringComparison.Ordinal)
            || settings.Contains("\"operations\"", StringComparison.Ordinal)
                ? ""
                : """ "operations": { "Order": "order", "Notify": "notify" }, """;
        var mode = settings.Contains("\"mode\"", StringComparison.Ordinal) ? "" : """ "mode": "request-reply", """;
        Http.Read(
            $$""" "shop": { "type": "soap-inbound", "path": "/shop", {{target}}{{mode}}"wsdl": "{{path}}"{{(settings.Length > 0 ? ", " : "")}}{{settings}} } """,
            more
        );
    }

    public static string Envelope(string body, string headers = "", SoapVersion? version = null) =>
        $"""<e:Envelope xmlns:e="{(version ?? SoapVersion.V11).Namespace}"><e:Header>{headers}</e:Header><e:Body>{body}</e:Body></e:Envelope>""";

    public Task<SoapAnswer> CallAsync(
        string body,
        CancellationToken cancellationToken,
        string headers = "",
        SoapVersion? version = null,
        string? action = null
    ) => PostAsync(Envelope(body, headers, version), cancellationToken, version, action);

    public async Task<SoapAnswer> PostAsync(
        string text,
        CancellationToken cancellationToken,
        SoapVersion? version = null,
        string? action = null,
        string? contentType = null
    )
    {
        version ??= SoapVersion.V11;
        using var request = new HttpRequestMessage(HttpMethod.Post, Url) { Content = new ByteArrayContent(Encoding.UTF8.GetBytes(text)) };
        request.Content.Headers.ContentType = MediaTypeHeaderValue.Parse(
            contentType ?? version.ContentType + (action is not null && version == SoapVersion.V12 ? $"; action=\"{action}\"" : "")
        );
        if (action is not null && version == SoapVersion.V11)
            request.Headers.Add("SOAPAction", $"\"{action}\"");
        using var response = await Http.Client.SendAsync(request, cancellationToken);
        return new SoapAnswer(
            (int)response.StatusCode,
            response.Content.Headers.ContentType?.MediaType,
            await response.Content.ReadAsStringAsync(cancellationToken),
            response.Headers.RetryAfter?.ToString()
        );
    }

    public async ValueTask DisposeAsync()
    {
        await Http.DisposeAsync();
        _folder.Delete(recursive: true);
    }

    private ValueTask RunAsync(MessageContext context, CancellationToken cancellationToken)
    {
        var names = new[] { "soap.operation", "soap.action", "soap.version", "soap.header.customer" };
        lock (Messages)
            Messages.Add((context.Message.Body.ReadText(), context.Message.Party, names.ToDictionary(name => name, context.GetProperty)));
        Answer(context);
        return ValueTask.CompletedTask;
    }
}

/// <summary>An answer over HTTP.</summary>
internal sealed record SoapAnswer(int Status, string? MediaType, string Text, string? RetryAfter)
{
    private XElement Envelope => XElement.Parse(Text);

    public string Version => SoapVersion.Of(Envelope.Name.NamespaceName)!.Name;

    /// <summary>The child of Body.</summary>
    public XElement Child => Envelope.Elements().Single(element => element.Name.LocalName == "Body").Elements().Single();

    public string FaultCode => Child.Descendants().First(element => element.Name.LocalName is "faultcode" or "Value").Value;

    public string FaultReason => Child.Descendants().First(element => element.Name.LocalName is "faultstring" or "Text").Value;

    public XElement? Detail =>
        Child.Descendants().FirstOrDefault(element => element.Name.LocalName is "detail" or "Detail")?.Elements().Single();

    /// <summary>The code of the bus in the detail.</summary>
    public string? Code => Detail?.Elements().FirstOrDefault(element => element.Name.LocalName == "code")?.Value;
}
