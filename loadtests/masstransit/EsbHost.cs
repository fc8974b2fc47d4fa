using System.Diagnostics;
using System.Net;
using System.Net.Sockets;

namespace MassTransitLoad;

/// <summary>The other side: a host with both endpoint types.</summary>
public sealed class EsbHost : IDisposable
{
    private const string Name = "mtload";

    public static readonly Way Inbound = new("Load:Message", "", $"esb-{Name}-in", IsEnveloped: true);
    public static readonly Way Topic = new($"{Name}.topics.load", "load.in", null, IsEnveloped: false);
    public static readonly Way Outbound = new($"{Name}.topics.load", "load.out", $"{Name}.endpoints.{Name}.out", IsEnveloped: false);
    public static readonly Way Event = new("Load:Event", "", null, IsEnveloped: true);

    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("esb-masstransit-load-");
    private readonly string _rabbit;

    private EsbHost(string rabbit) => _rabbit = rabbit;

    public static EsbHost Create(string rabbit)
    {
        var host = new EsbHost(rabbit);
        File.WriteAllText(
            Path.Combine(host._folder.FullName, "esb.json"),
            $$"""
            {
              "name": "{{Name}}",
              "transport": { "type": "rabbitmq", "url": "${env:LOAD_RABBITMQ}", "prefix": "{{Name}}" },
              "topics": { "load": {} },
              "endpoints": {
                "in": { "type": "masstransit-inbound", "messageType": "{{Inbound.Exchange}}", "publish": "load.in", "maxConcurrentCalls": 64 },
                "out": {
                  "type": "masstransit-outbound", "messageType": "{{Event.Exchange}}", "subscribe": ["load.out"], "queue": { "type": "classic" },
                  "poolSize": 64, "processingThreads": 64
                }
              }
            }
            """
        );
        return host;
    }

    public IDisposable Start()
    {
        var program = Environment.GetEnvironmentVariable("ESB_HOST") ?? Find();
        var start = new ProcessStartInfo("dotnet", [program, "run", "esb.json"]) { WorkingDirectory = _folder.FullName };
        start.Environment["LOAD_RABBITMQ"] = _rabbit;
        start.Environment["ESB__LISTENERS__PUBLIC__URL"] = $"http://127.0.0.1:{FreePort()}";
        start.Environment["ESB__MANAGEMENT__URL"] = $"http://127.0.0.1:{FreePort()}";
        start.Environment["ESB__LIMITS__DRAINDELAY"] = "0s";
        return new StartedProcess(start);
    }

    public void Dispose() => _folder.Delete(recursive: true);

    // Built in Release, seen from any folder below the root of the repository.
    private static string Find()
    {
        for (var folder = new DirectoryInfo(AppContext.BaseDirectory); folder is not null; folder = folder.Parent)
        {
            var program = Path.Combine(folder.FullName, "Esb.Host", "bin", "Release", "net10.0", "esb.dll");
            if (File.Exists(program))
                return program;
        }

        throw new FileNotFoundException("The host is not built: dotnet build Esb.Host -c Release, or name it in ESB_HOST.");
    }

    private static int FreePort()
    {
        using var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        return ((IPEndPoint)listener.LocalEndpoint).Port;
    }
}
