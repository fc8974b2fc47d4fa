using Esb.Configuration;
using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Endpoints.Http.Sending;
using Esb.Endpoints.Http.Targets;
using Esb.Tests.Fakes;
using Microsoft.Extensions.Logging.Abstractions;

namespace Esb.Tests.Endpoints.Http.Sending;

public sealed class HttpTargetsTests
{
    private HttpBus _bus = null!;

    [SetUp]
    public void CreateBus() => _bus = new HttpBus();

    [TearDown]
    public async Task StopBus() => await _bus.DisposeAsync();

    [TestCase(null, "POST /backend"), TestCase("east", "POST /east"), TestCase("west", "GET /west"), CancelAfter(30_000)]
    public async Task Call_goes_to_the_target_that_it_names(string? target, string expected, CancellationToken cancellationToken)
    {
        await using var backend = await Backend.StartAsync();
        var endpoint = Endpoint(
            backend.Url,
            $$""" "targets": { "east": "{{backend.Url.Replace("/backend", "/east", StringComparison.Ordinal)}}", "west": { "url": "{{backend.Url.Replace("/backend", "/west", StringComparison.Ordinal)}}", "method": "GET" } } """
        );

        await endpoint.SendAsync(Naming(target), cancellationToken);

        Assert.That(backend.Requests.Single(), Does.StartWith($"{expected}\n").And.Not.Contain("esb-"));
    }

    [Test, CancelAfter(30_000)]
    public void Target_that_is_none_is_refused_for_good(CancellationToken cancellationToken)
    {
        var endpoint = Endpoint("http://localhost/", """ "targets": { "east": "http://localhost/east" } """);

        var failure = Assert.ThrowsAsync<EsbException>(async () =>
            await endpoint.SendAsync(Naming("http://elsewhere/"), cancellationToken)
        );

        Assert.That((failure!.Code, failure.Kind), Is.EqualTo(("ESB-CALL-TARGET", FaultKind.Invalid)));
    }

    [Test, CancelAfter(30_000)]
    public async Task Outside_whose_token_was_just_being_replaced_is_called_by_the_next_message(CancellationToken cancellationToken)
    {
        await using var backend = await Backend.StartAsync();
        var file = Path.GetTempFileName();
        using var cleanUp = new FileToDelete(file);
        await File.WriteAllTextAsync(file, "first", cancellationToken);
        _bus.Read(
            $$""" "backend": { "type": "http-outbound", "url": "{{backend.Url}}", "authentication": { "type": "bearer", "file": "{{file}}" } } """
        );
        var adapter = OutboundEndpoints.Create(_bus, "backend");
        File.Delete(file);

        Assert.That(adapter.CreateInstance, Throws.InstanceOf<FileFaultException>());
        SecretText.Write(file, "second");
        await adapter.CreateInstance().SendAsync(Some.Message(), cancellationToken);

        Assert.That(backend.Requests.Single(), Does.Contain("Authorization: Bearer second"));
    }

    [Test]
    public void Destination_is_built_once_and_anew_when_its_settings_change()
    {
        var (file, time) = (Path.GetTempFileName(), new ManualTime());
        File.WriteAllText(file, """{ "east": "http://localhost/1", "west": "http://localhost/2" }""");
        using var cleanUp = new FileToDelete(file);
        var live = new LiveSettings<HttpTargetConfig>(
            file,
            new Dictionary<string, string>(),
            (_, _) => { },
            time,
            NullLogger<LiveSettings<HttpTargetConfig>>.Instance
        );
        var destinations = new HttpDestinations(new HttpOutboundConfig { Url = "http://localhost/" }, live);
        var (east, west) = (destinations.Of("east"), destinations.Of("west"));
        Assert.That((destinations.Of("east"), destinations.Of("west")), Is.EqualTo((east, west)), "built once");

        File.WriteAllText(file, """{ "east": "http://localhost/1", "west": "http://localhost/changed" }""");
        time.Advance(TimeSpan.FromSeconds(1));

        Assert.That(destinations.Of("east"), Is.SameAs(east), "unchanged");
        Assert.That(destinations.Of("west").Url.OriginalString, Is.EqualTo("http://localhost/changed"));
    }

    [
        TestCase("""{ "east": "east" }""", "endpoints.backend.targets.east"),
        TestCase("""{ "east": { "url": "http://localhost/", "method": "get" } }""", "endpoints.backend.targets.east.method")
    ]
    [TestCase("""{ "east": "http://elsewhere/" }""", "endpoints.backend.targets.east")]
    public void Target_that_cannot_be_called_is_refused_at_the_start(string targets, string path)
    {
        _bus.Read($$""" "backend": { "type": "http-outbound", "url": "http://localhost/", "targets": {{targets}} } """);

        Assert.That(_bus.Errors.All.Select(error => error.Path), Is.EqualTo([path]));
    }

    [Test]
    public void File_of_targets_is_checked_at_the_start_with_the_place_of_each_mistake()
    {
        var file = Path.GetTempFileName();
        File.WriteAllText(
            file,
            "{\n  \"east\": \"east\",\n  \"west\": { \"uri\": \"http://localhost/\" },\n  \"south\": \"${env:MISSING}\"\n}"
        );
        using var cleanUp = new FileToDelete(file);

        _bus.Read($$""" "backend": { "type": "http-outbound", "url": "http://localhost/", "targetsFile": "{{file}}" } """);

        Assert.That(
            _bus.Errors.All.Select(error => (error.Code, error.Origin!.Line)),
            Is.EquivalentTo(new[] { ("ESB-CFG-URL", 2), ("ESB-CFG-UNKNOWN", 3), ("ESB-CFG-ENV", 4) })
        );
    }

    private static EsbMessage Naming(string? target) =>
        Some.Message() with
        {
            Headers = target is null ? MessageHeaders.Empty : MessageHeaders.Empty.With(EsbHeaders.Target, target),
        };

    private IOutboundEndpoint Endpoint(string url, string more)
    {
        _bus.Read($$""" "backend": { "type": "http-outbound", "url": "{{url}}", {{more}} } """);
        return OutboundEndpoints.Create(_bus, "backend").CreateInstance();
    }

    private sealed class FileToDelete(string path) : IDisposable
    {
        public void Dispose() => File.Delete(path);
    }
}
