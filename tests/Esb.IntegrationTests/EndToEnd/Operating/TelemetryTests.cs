using System.Diagnostics;
using System.Text.RegularExpressions;
using Esb.IntegrationTests.EndToEnd.Hosts;

namespace Esb.IntegrationTests.EndToEnd.Operating;

/// <summary>What a real OpenTelemetry collector gets. Without a collector on the path or beside the repository the test is ignored, and
/// says so.</summary>
[OwnProcess]
public sealed partial class TelemetryTests
{
    private DirectoryInfo _folder = null!;

    [SetUp]
    public void CreateFolder() => _folder = Directory.CreateTempSubdirectory("esb-telemetry-");

    [TearDown]
    public void DeleteFolder() => _folder.Delete(recursive: true);

    [Test, CancelAfter(120_000)]
    public async Task One_trace_leads_from_the_caller_to_the_far_side_of_the_topic(CancellationToken cancellationToken)
    {
        const string traceId = "0af7651916cd43dd8448eb211c80319c";
        await using var collector = await CollectorProcess.StartAsync(_folder.FullName, cancellationToken);
        await using var host = await RunningHost.StartAsync(
            Repository.PathOf("samples", "database"),
            _folder.FullName,
            cancellationToken,
            new Dictionary<string, string>
            {
                ["ESB_RABBITMQ"] = Servers.RabbitMq,
                ["ESB_POSTGRES"] = Servers.Postgres,
                ["ESB__TRANSPORT__PREFIX"] = $"test-{Guid.NewGuid():N}",
                ["ESB__TELEMETRY__OTLP"] = collector.Url,
            }
        );

        using var request = new HttpRequestMessage(HttpMethod.Post, new Uri(host.Public, "/orders")) { Content = new StringContent("{}") };
        request.Headers.Add("traceparent", $"00-{traceId}-b7ad6b7169203331-01");
        using var response = await host.Client.SendAsync(request, cancellationToken);
        Assert.That((int)response.StatusCode, Is.EqualTo(202));
        await host.WaitAsync(
            _ => Task.FromResult(SpansOf(collector.Output, traceId).Count >= 3),
            TimeSpan.FromSeconds(20),
            "to export its spans",
            cancellationToken
        );
        await host.StopAsync(cancellationToken);
        await host.DisposeAsync();

        var spans = SpansOf(collector.Output, traceId);
        Assert.Multiple(() =>
        {
            Assert.That(
                spans,
                Has.Some.Matches<string>(span => span.Contains("Name           : POST /orders") && span.Contains("Kind           : Server"))
            );
            Assert.That(
                spans,
                Has.Some.Matches<string>(span =>
                    NameOf(span).StartsWith("send ", StringComparison.Ordinal)
                    && span.Contains("Kind           : Producer")
                    && span.Contains("messaging.system: Str(rabbitmq)")
                    && span.Contains("messaging.destination.name: Str(")
                )
            );
            Assert.That(
                spans,
                Has.Some.Matches<string>(span =>
                    NameOf(span).StartsWith("process ", StringComparison.Ordinal)
                    && span.Contains("Kind           : Consumer")
                    && span.Contains("messaging.operation.type: Str(process)")
                    && span.Contains("messaging.message.id: Str(")
                )
            );
            Assert.That(
                collector.Output,
                Does.Contain("messaging.client.operation.duration")
                    .And.Contain("messaging.process.duration")
                    .And.Contain("messaging.client.sent.messages")
                    .And.Contain("messaging.client.consumed.messages")
            );
            Assert.That(collector.Output, Does.Contain("service.name: Str(database)"));
        });
    }

    private static List<string> SpansOf(string output, string traceId) =>
        [.. output.Split("Span #").Skip(1).Where(span => span.Contains($"Trace ID       : {traceId}", StringComparison.Ordinal))];

    private static string NameOf(string span) => SpanName().Match(span).Groups[1].Value;

    [GeneratedRegex(@"Name\s+: (.*)")]
    private static partial Regex SpanName();
}
