using Esb.Content.Transforms;
using Esb.Tests.Fakes;
using Microsoft.Extensions.Logging;

namespace Esb.Tests.Content.Transforms;

/// <summary>Maps whose files change while they are used.</summary>
[FixtureLifeCycle(LifeCycle.InstancePerTestCase)]
public sealed class LiveMapTests : IDisposable
{
    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("esb-live-");
    private readonly LogLines _log = new();
    private int _version;

    private string MapFile => Path.Combine(_folder.FullName, "map.xsl");

    public void Dispose()
    {
        _folder.Delete(recursive: true);
        _log.Dispose();
    }

    [Test]
    public void A_change_is_taken_once_the_file_is_quiet()
    {
        Write(MapFile, Says("one"));
        var map = Open();
        Write(MapFile, Says("two"));

        map.Look();
        var atTheFirstLook = Made(map);
        map.Look();

        Assert.That((atTheFirstLook, Made(map)), Is.EqualTo(("<one />", "<two />")));
        Assert.That(_log.All.Single().Text, Does.Contain("map test has changed and is in use as of now"));
    }

    [Test]
    public void A_change_while_the_map_is_compiled_is_taken_later()
    {
        Write(MapFile, Says("one"));
        Queue<string> changes = new(["two", "three"]);
        var map = Open(files =>
        {
            var compiled = SomeMaps.Compile(files);
            if (changes.TryDequeue(out var change))
                Write(MapFile, Says(change));
            return compiled;
        });

        LookTwice(map);
        var second = Made(map);
        LookTwice(map);

        Assert.That((second, Made(map)), Is.EqualTo(("<two />", "<three />")));
    }

    [Test]
    public void A_change_of_an_included_file_counts()
    {
        Write(MapFile, "<xsl:include href='part.xsl'/>");
        Write(Path.Combine(_folder.FullName, "part.xsl"), Says("one"));
        var map = Open();

        Write(Path.Combine(_folder.FullName, "part.xsl"), Says("two"));
        LookTwice(map);

        Assert.That(Made(map), Is.EqualTo("<two />"));
    }

    [TestCase("<xsl:template match='/'>", "ESB-XSL-COMPILE, map.xsl, line 1")]
    [TestCase("<xsl:include href='missing.xsl'/>", "ESB-XSL-RESOLVE, map.xsl, line 1")]
    [TestCase("<xsl:include href='file:x'/>", "ESB-XSL-RESOLVE, map.xsl, line 1")]
    [TestCase("<xsl:template match='/'><xsl:value-of select='document(1)'/></xsl:template>", "ESB-XSL-DOCUMENT")]
    [TestCase("<xsl:param name='more'/><xsl:template match='/'><a/></xsl:template>", "needs the parameter 'more' now")]
    [Property("Case", "XSL-17")]
    public void A_broken_replacement_leaves_the_old_one_and_says_so_once(string body, string problem)
    {
        Write(MapFile, Says("one"));
        var map = Open();

        Write(MapFile, body);
        for (var i = 0; i < 4; i++)
            map.Look();

        Assert.That(Made(map), Is.EqualTo("<one />"));
        Assert.That(map.Problem, Does.Contain(problem));
        Assert.That(_log.All.Single().Level, Is.EqualTo(LogLevel.Error));
        Assert.That(_log.All.Single().Text, Does.StartWith("ESB-CFG-RELOAD map test has changed and cannot be used").And.Contain(problem));
    }

    [Test, Property("Case", "XSL-17")]
    public void A_file_that_is_gone_leaves_the_map_until_it_comes_back()
    {
        Write(MapFile, Says("one"));
        var map = Open();

        File.Delete(MapFile);
        LookTwice(map);
        var whileItWasGone = (Made(map), map.Problem);
        Write(MapFile, Says("two"));
        LookTwice(map);

        Assert.That(whileItWasGone.Item1, Is.EqualTo("<one />"));
        Assert.That(whileItWasGone.Problem, Does.StartWith("it cannot be read"));
        Assert.That((Made(map), map.Problem), Is.EqualTo(("<two />", (string?)null)));
    }

    [Test]
    public void What_a_broken_replacement_lacked_mends_it_when_it_comes()
    {
        Write(MapFile, Says("one"));
        var map = Open();
        Write(MapFile, "<xsl:include href='part.xsl'/>");
        LookTwice(map);

        Write(Path.Combine(_folder.FullName, "part.xsl"), Says("two"));
        LookTwice(map);

        Assert.That((Made(map), map.Problem), Is.EqualTo(("<two />", (string?)null)));
    }

    [Test, Property("Case", "XSL-17")]
    public void A_change_that_the_compiler_fails_on_is_refused_and_its_error_is_logged_once()
    {
        Write(MapFile, Says("one"));
        var bug = new NotSupportedException("A bug of the compiler.");
        var isBroken = false;
        var map = Open(files => isBroken ? throw bug : SomeMaps.Compile(files));

        isBroken = true;
        Write(MapFile, Says("two"));
        for (var i = 0; i < 4; i++)
            map.Look();
        var whileItFailed = (Made(map), map.Problem);
        isBroken = false;
        LookTwice(map);

        Assert.That(whileItFailed, Is.EqualTo(("<one />", "the compiler failed with NotSupportedException: A bug of the compiler.")));
        Assert.That(_log.All.Single(line => line.Level == LogLevel.Error).Text, Does.Contain(bug.ToString()), "with its stack, once");
        Assert.That((Made(map), map.Problem), Is.EqualTo(("<two />", (string?)null)));
    }

    [Test, CancelAfter(60_000), Property("Case", "XSL-20")]
    public void A_hundred_threads_never_see_a_mix_of_two_versions(CancellationToken cancellationToken)
    {
        Write(MapFile, Twice("v0", "text/v0"));
        var map = Open();
        using var start = new Barrier(101);
        var seen = new System.Collections.Concurrent.ConcurrentDictionary<string, int>();
        var isOver = false;
        var threads = Enumerable
            .Range(0, 100)
            .Select(_ => new Thread(() =>
            {
                start.SignalAndWait(cancellationToken);
                do
                {
                    var made = map.Transform(SomeContent.Body("<x/>"));
                    seen.AddOrUpdate($"{made.Body.ReadText()} {made.ContentType}", 1, (_, count) => count + 1);
                } while (!Volatile.Read(ref isOver));
            }))
            .ToList();
        foreach (var thread in threads)
            thread.Start();
        start.SignalAndWait(cancellationToken);
        for (var version = 1; version <= 5; version++)
        {
            Write(MapFile, Twice($"v{version}", $"text/v{version}"));
            LookTwice(map);
            seen.TryGetValue(Result($"v{version}"), out var before);
            Assert.That(
                () => seen.GetValueOrDefault(Result($"v{version}")),
                Is.GreaterThan(before).After(20_000, 5),
                "the new version is in use"
            );
        }

        Volatile.Write(ref isOver, true);
        foreach (var thread in threads)
            thread.Join();

        Assert.That(seen.Keys, Is.EquivalentTo(Enumerable.Range(0, 6).Select(version => Result($"v{version}"))));
    }

    private static string Result(string version) => $"<a>{version}<b>{version}</b></a> text/{version}; charset=utf-8";

    private static string Twice(string version, string mediaType) =>
        $"""
            <xsl:output omit-xml-declaration="yes" media-type="{mediaType}"/>
            <xsl:variable name="v" select="'{version}'"/>
            <xsl:template match="/"><a><xsl:value-of select="$v"/><xsl:call-template name="b"/></a></xsl:template>
            <xsl:template name="b"><b>{version}</b></xsl:template>
            """;

    private static string Says(string element) =>
        $"<xsl:output omit-xml-declaration='yes'/><xsl:template match='/'><{element}/></xsl:template>";

    private static string Made(LiveMap map) => map.Transform(SomeContent.Body("<x/>")).Body.ReadText();

    private static void LookTwice(LiveMap map)
    {
        map.Look();
        map.Look();
    }

    private LiveMap Open() => Open(files => SomeMaps.Compile(files));

    private LiveMap Open(Func<StylesheetFiles, XsltMap> compile)
    {
        using var factory = LoggerFactory.Create(builder => builder.AddProvider(_log));
        return new LiveMap(MapModel.Create(MapFile, StylesheetFiles.Read, compile), factory.CreateLogger("maps"));
    }

    // Two writes within one tick of the file system's clock would look the same.
    private void Write(string path, string body)
    {
        File.WriteAllText(path, SomeMaps.Stylesheet(body));
        File.SetLastWriteTimeUtc(path, new DateTime(2026, 1, 1, 0, 0, 0, DateTimeKind.Utc).AddSeconds(++_version));
    }
}
