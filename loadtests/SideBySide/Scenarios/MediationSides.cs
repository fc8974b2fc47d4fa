using SideBySide.Measuring;
using SideBySide.Servers;
using SideBySide.Targets;

namespace SideBySide.Scenarios;

/// <summary>The sides of one size of document. A side is made once, so that rows that share it share its figures.</summary>
internal sealed class MediationSides(
    string size,
    OrderDocuments documents,
    Surroundings surroundings,
    Backend backend,
    Side<CamelServer> camel,
    EsbHost host,
    string? astray
)
{
    private const string Audit = "every message recorded in the audit trail, on disk";
    private const string Xml = "text/xml; charset=utf-8";

    public ITarget Relay { get; } = Ours("relay", "relay", "no audit", size, documents, surroundings, host);

    public ITarget Policies { get; } =
        Ours(
            "relay with policies",
            "policies",
            "allow-lists of headers both ways, headers set, renamed and removed, one content type, no audit",
            size,
            documents,
            surroundings,
            host
        );

    public ITarget Route { get; } =
        astray is not null
            ? new MissingTarget("routing by content", astray)
            : Ours("routing by content", "route", "a relay with three routes, no audit", size, documents, surroundings, host);

    public ITarget Choose { get; } =
        Ours("routing in a process", "choose", $"choose and call; {Audit}", size, documents, surroundings, host);

    public ITarget Call { get; } = Ours("call", "call", Audit, size, documents, surroundings, host);

    public ITarget Copy { get; } = Ours("header set, then call", "copy", Audit, size, documents, surroundings, host, warmKey: "call");

    public ITarget Tap { get; } =
        Ours(
            "wire tap, then call",
            "tap",
            $"{Audit}; the topic in memory, its subscriber takes copies and keeps none",
            size,
            documents,
            surroundings,
            host,
            warmKey: "call"
        );

    public ITarget Reverse { get; } =
        Wrk(
            "XSLT both ways",
            $"{Runtime(host)}; {Audit}",
            new WrkRequest($"{host.Url}/reverse", documents.Reversed(size), Xml, OrderDocuments.SameXmlAs(documents.Reversed(size))),
            Meter.Of(host),
            surroundings
        );

    public ITarget Proxy { get; } =
        backend.Proxy is not { } proxy
            ? new MissingTarget("nginx", "not installed: apt-get install nginx")
            : Wrk(
                "nginx",
                "two workers, 300 kept connections to the back end, buffered",
                Echo($"{proxy.Url}/echo", size, documents),
                new Meter(() => proxy.ProcessorTime),
                surroundings
            );

    public ITarget CamelDirect { get; } =
        camel.Target(server => Camel("Camel", server, Echo($"{server.Url}/direct", size, documents), surroundings));

    public ITarget CamelRoute { get; } =
        camel.Target(server => Camel("Camel, XPath", server, Echo($"{server.Url}/cbr", size, documents), surroundings));

    public ITarget CamelXslt { get; } =
        camel.Target(server =>
            Camel(
                "Camel, XSLT",
                server,
                new WrkRequest($"{server.Url}/xslt", documents.Reversed(size), Xml, OrderDocuments.SameXmlAs(documents.Reversed(size))),
                surroundings
            )
        );

    public ITarget BareRelay(BareServer server) =>
        Wrk(
            "bare ASP.NET relay",
            "Kestrel and SocketsHttpHandler, bodies streamed, two headers passed on",
            Echo($"{server.Url}/relay", size, documents),
            new Meter(() => server.ProcessorTime, server.Probe),
            surroundings
        );

    private static WrkTarget Ours(
        string name,
        string path,
        string settings,
        string size,
        OrderDocuments documents,
        Surroundings surroundings,
        EsbHost host,
        string? warmKey = null
    ) => Wrk(name, $"{Runtime(host)}; {settings}", Echo($"{host.Url}/{path}", size, documents), Meter.Of(host), surroundings, warmKey);

    private static string Runtime(EsbHost host) => $"{host.Collector} collector, settings as they come";

    private static WrkTarget Camel(string name, CamelServer server, WrkRequest request, Surroundings surroundings) =>
        Wrk(name, CamelServer.Settings, request, new Meter(() => server.ProcessorTime), surroundings);

    private static WrkRequest Echo(string url, string size, OrderDocuments documents) =>
        new(url, documents.Plain(size), Xml, OrderDocuments.EqualTo(documents.Plain(size)));

    private static WrkTarget Wrk(
        string name,
        string settings,
        WrkRequest request,
        Meter meter,
        Surroundings surroundings,
        string? warmKey = null
    ) => new(name, settings, request, meter, surroundings) { WarmKey = warmKey ?? name };
}
