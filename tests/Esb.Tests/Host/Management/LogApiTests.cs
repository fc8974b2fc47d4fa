using System.Net;
using System.Net.Http.Json;
using System.Text.Json;
using Esb.Core.Topics;
using Esb.Host.Logging;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using NSubstitute;
using NUnit.Framework;

namespace Esb.Tests.Host.Management;

[CancelAfter(30_000)]
public sealed class LogApiTests
{
    private RunningManagement _host = null!;

    [SetUp]
    public async Task Start() => _host = await RunningManagement.StartAsync(CancellationToken.None);

    [TearDown]
    public async Task Stop() => await _host.DisposeAsync();

    [Test]
    public async Task Level_is_changed_at_once_here_and_told_to_the_farm(CancellationToken cancellationToken)
    {
        var logger = _host.Services.GetRequiredService<ILoggerFactory>().CreateLogger("Esb.Workflows.Processes");
        var before = logger.IsEnabled(LogLevel.Debug);

        var answer = await PatchAsync("""{ "levels": { "workflows": "debug" }, "for": "10m" }""", cancellationToken);

        var log = await answer.Content.ReadFromJsonAsync<JsonElement>(cancellationToken);
        Assert.Multiple(() =>
        {
            Assert.That((before, logger.IsEnabled(LogLevel.Debug)), Is.EqualTo((false, true)));
            Assert.That(log.GetProperty("changed")[0].GetProperty("category").GetString(), Is.EqualTo("Esb.Workflows"));
            Assert.That(
                log.GetProperty("changed")[0].GetProperty("until").GetDateTimeOffset(),
                Is.GreaterThan(TimeProvider.System.GetUtcNow().AddMinutes(9))
            );
        });
        await _host
            .Services.GetRequiredService<IFarm>()
            .Received(1)
            .BroadcastAsync(Arg.Any<ChangeLogLevels>(), Arg.Any<CancellationToken>());
    }

    [Test]
    public async Task Change_of_this_host_is_told_to_nobody(CancellationToken cancellationToken)
    {
        await PatchAsync("""{ "levels": { "topics": "trace" }, "hosts": "this" }""", cancellationToken);

        await _host
            .Services.GetRequiredService<IFarm>()
            .DidNotReceive()
            .BroadcastAsync(Arg.Any<ChangeLogLevels>(), Arg.Any<CancellationToken>());
        var log = await _host.Client.GetFromJsonAsync<JsonElement>("/api/log", cancellationToken);
        Assert.That(log.GetProperty("changed")[0].GetProperty("level").GetString(), Is.EqualTo("trace"));
    }

    [TestCase("""{ }"""), TestCase("""{ "levels": { "topcs": "debug" } }"""), TestCase("""{ "levels": { "topics": "loud" } }""")]
    [
        TestCase("""{ "levels": { "topics": "debug" }, "for": "soon" }"""),
        TestCase("""{ "levels": { "topics": "debug", "Esb.Topics": "trace" } }"""),
        TestCase("""{ "level": {} }""")
    ]
    public async Task What_cannot_be_meant_is_refused_and_changes_nothing(string body, CancellationToken cancellationToken)
    {
        using var response = await PatchAsync(body, cancellationToken);

        Assert.That(response.StatusCode, Is.EqualTo(HttpStatusCode.BadRequest));
        Assert.That(_host.Services.GetRequiredService<LogLevels>().Changed, Is.Empty);
    }

    private Task<HttpResponseMessage> PatchAsync(string body, CancellationToken cancellationToken) =>
        _host.Client.PatchAsync("/api/log", new StringContent(body, System.Text.Encoding.UTF8, "application/json"), cancellationToken);
}
