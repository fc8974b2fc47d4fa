using Esb.Configuration;
using Esb.Core.Configuration;
using Esb.Endpoints.Http.Targets;
using Esb.Tests.Fakes;
using Microsoft.Extensions.Logging;

namespace Esb.Tests.Configuration;

[FixtureLifeCycle(LifeCycle.InstancePerTestCase)]
public sealed class LiveSettingsTests : IDisposable
{
    private readonly string _file = Path.GetTempFileName();
    private readonly ManualTime _time = new();
    private readonly Dictionary<string, string> _variables = new() { ["TOKEN"] = "geheim" };
    private readonly LogLines _log = new();
    private readonly LoggerFactory _loggers;

    public LiveSettingsTests() => _loggers = new LoggerFactory([_log]);

    public void Dispose()
    {
        _loggers.Dispose();
        File.Delete(_file);
    }

    [Test]
    public void What_the_file_says_is_in_force_a_second_later()
    {
        var settings = Live("""{ "east": "http://localhost/1" }""");
        var before = settings.Current;

        Write("""{ "east": "http://localhost/2", "west": { "url": "http://localhost/3", "method": "PUT" } }""");

        Assert.That(settings.Current, Is.SameAs(before), "nobody has looked yet");
        _time.Advance(TimeSpan.FromSeconds(1));
        Assert.That(
            settings.Current.Values.Select(target => (target.Name, target.Url, target.Method)),
            Is.EquivalentTo(new[] { ("east", "http://localhost/2", null), ("west", "http://localhost/3", "PUT") })
        );
    }

    [
        TestCase("{", "ESB-CFG-SYNTAX"),
        TestCase("""{ "east": { "uri": "http://localhost/2" } }""", "did you mean \"url\"?"),
        TestCase("""{ "east": "no url" }""", "expected an absolute http or https url"),
        TestCase(null, "cannot be read")
    ]
    public void Broken_change_is_told_with_its_place_and_what_stood_before_stays(string? text, string told)
    {
        var settings = Live("""{ "east": "http://localhost/1" }""");

        if (text is null)
            File.Delete(_file);
        else
            Write(text);
        _time.Advance(TimeSpan.FromSeconds(1));

        Assert.That(settings.Current["east"].Url, Is.EqualTo("http://localhost/1"));
        var line = _log.All.Single(line => line.Level == LogLevel.Error).Text;
        Assert.That(line, Does.Contain("ESB-CFG-RELOAD").And.Contain(told).And.Contain(_file));
    }

    [Test]
    public void References_are_resolved_at_the_start_and_in_every_change()
    {
        var settings = Live("""{ "east": "http://localhost/${env:TOKEN}" }""");
        var before = settings.Current["east"].Url;

        Write("""{ "east": "http://localhost/changed/${env:TOKEN}" }""");
        _time.Advance(TimeSpan.FromSeconds(1));

        Assert.That((before, settings.Current["east"].Url), Is.EqualTo(("http://localhost/geheim", "http://localhost/changed/geheim")));
    }

    [
        TestCase("http://localhost/${env:TOKE}", "ESB-CFG-ENV"),
        TestCase("http://localhost/${token}", "ESB-CFG-REFERENCE"),
        TestCase("${env:TOKEN}", "ESB-CFG-URL")
    ]
    public void Broken_reference_is_told_without_what_references_bring(string url, string code)
    {
        var settings = Live("""{ "east": "http://localhost/1" }""");

        Write($$"""{ "east": "{{url}}" }""");
        _time.Advance(TimeSpan.FromSeconds(1));

        Assert.That(settings.Current["east"].Url, Is.EqualTo("http://localhost/1"));
        Assert.That(
            _log.All.Single(line => line.Level == LogLevel.Error).Text,
            Does.Contain(code).And.Contain($"{_file}:1:").And.Not.Contain("geheim")
        );
    }

    private LiveSettings<HttpTargetConfig> Live(string text)
    {
        Write(text);
        return new LiveSettings<HttpTargetConfig>(_file, _variables, Check, _time, _loggers.CreateLogger<LiveSettings<HttpTargetConfig>>());
    }

    private void Write(string text)
    {
        File.WriteAllText(_file, text);
        // two changes may fall into one tick of the clock
        File.SetLastWriteTimeUtc(_file, File.GetLastWriteTimeUtc(_file).AddSeconds(text.Length));
    }

    private static void Check(HttpTargetConfig target, ConfigErrors errors) =>
        HttpAddressRules.Check(target, "url", target.Url, "POST", allowInsecure: false, errors);
}
