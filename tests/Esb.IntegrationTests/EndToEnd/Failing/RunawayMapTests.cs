using System.Net;
using Esb.IntegrationTests.EndToEnd.Hosts;

namespace Esb.IntegrationTests.EndToEnd.Failing;

/// <summary>Stylesheets and schemas that would take a process down, on a whole host: they fail their messages, and the neighbours go
/// on.</summary>
[Category("Failures")]
public sealed class RunawayMapTests
{
    private const string Configuration = """
        {
          "maps": { "endless": "endless.xsl", "list": "list.xsl", "branches": "branches.xsl", "plain": "plain.xsl" },
          "schemas": { "word": "word.xsd" },
          "topics": { "orders": {} },
          "endpoints": {
            "endless": { "type": "http-inbound", "path": "/endless", "mode": "request-reply", "process": "endless" },
            "list": { "type": "http-inbound", "path": "/list", "mode": "request-reply", "process": "list" },
            "branches": { "type": "http-inbound", "path": "/branches", "mode": "request-reply", "process": "branches" },
            "word": { "type": "http-inbound", "path": "/word", "mode": "request-reply", "process": "word" },
            "box": { "type": "file-inbound", "folder": "box", "pattern": "*.xml", "process": "choose" },
            "plain": { "type": "http-inbound", "path": "/plain", "mode": "request-reply", "process": "plain" }
          },
          "processes": {
            "endless": [{ "transform": "endless" }],
            "list": [{ "transform": "list" }],
            "branches": [{ "transform": "branches" }],
            "plain": [{ "transform": "plain" }],
            "word": [{ "validate": "word" }],
            "choose": [
              { "choose": { "when": [{ "if": { "xpath": "/runaway" }, "steps": [{ "transform": "endless" }] }], "otherwise": [{ "transform": "plain" }] } },
              { "publish": "orders.new" }
            ]
          }
        }
        """;

    private const string Endless = """
        <xsl:template match="/"><a><xsl:call-template name="again"/></a></xsl:template>
        <xsl:template name="again"><i><xsl:call-template name="again"/></i></xsl:template>
        """;

    private const string List = """
        <xsl:template match="/"><n><xsl:apply-templates select="l/i[1]"/></n></xsl:template>
        <xsl:template match="i"><i/><xsl:apply-templates select="following-sibling::i[1]"/></xsl:template>
        """;

    // Each further letter doubles the ways to divide a word that does not fit.
    private const string Word = """
        <xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
          <xs:element name="w"><xs:simpleType><xs:restriction base="xs:string"><xs:pattern value="([0-9a-zA-Z]([-.\w]*[0-9a-zA-Z])*@)+"/></xs:restriction></xs:simpleType></xs:element>
        </xs:schema>
        """;

    private DirectoryInfo _folder = null!;
    private HostProcess _host = null!;

    [OneTimeSetUp]
    public async Task StartHost()
    {
        _folder = Directory.CreateTempSubdirectory("esb-runaway-");
        _folder.CreateSubdirectory("box");
        var branches = string.Concat(Enumerable.Range(0, 3_000).Select(i => $"<xsl:when test=\"/a = '{i}'\"><b>{i}</b></xsl:when>"));
        Write("esb.json", Configuration);
        Write("word.xsd", Word);
        WriteMap("endless", Endless);
        WriteMap("list", List);
        WriteMap("branches", $"<xsl:template match='/'><xsl:choose>{branches}</xsl:choose></xsl:template>");
        WriteMap("plain", "<xsl:template match='/'><one/></xsl:template>");
        // Not as ./test has the others: an endless recursion takes ten times as long without, and the time limit of maps comes before that
        // of their depth.
        _host = await HostProcess.StartAsync(
            _folder.FullName,
            _folder.FullName,
            CancellationToken.None,
            new Dictionary<string, string> { ["DOTNET_TieredPGO"] = "1" }
        );
    }

    [OneTimeTearDown]
    public async Task StopHost()
    {
        await _host.DisposeAsync();
        _folder.Delete(recursive: true);
    }

    [Test, CancelAfter(120_000), Property("Case", "XSL-07")]
    public async Task Endless_recursion_fails_its_messages_and_the_neighbours_go_on(CancellationToken cancellationToken)
    {
        var neighbours = Enumerable.Range(0, 50).Select(_ => AskAsync("/plain", "<a/>", cancellationToken)).ToList();

        // Four at once: more would share the processors until the time limit of maps comes before that of their depth.
        foreach (var four in Enumerable.Range(0, 20).Chunk(4))
        {
            var runaways = four.Select(_ => AskAsync("/endless", "<a/>", cancellationToken));
            foreach (var (status, text) in await Task.WhenAll(runaways))
            {
                Assert.That(status, Is.EqualTo(HttpStatusCode.UnprocessableEntity));
                Assert.That(text, Does.Contain("ESB-XSL-DEPTH"));
            }
        }

        Assert.That((await Task.WhenAll(neighbours)).Select(answer => answer.Status), Is.All.EqualTo(HttpStatusCode.OK));
        Assert.That(_host.HasExited, Is.False);
    }

    [Test, CancelAfter(120_000), Property("Case", "XSL-07")]
    public async Task File_whose_map_runs_away_ends_among_the_errors_and_its_neighbours_are_done(CancellationToken cancellationToken)
    {
        var box = Path.Combine(_folder.FullName, "box");

        for (var i = 0; i < 5; i++)
            Write($"box/{i}.xml", i == 2 ? "<runaway/>" : "<a/>");

        foreach (var i in new[] { 0, 1, 3, 4 })
            await _host.WaitForFileAsync(Path.Combine(box, "done", $"{i}.xml"), cancellationToken);
        var reason = Path.Combine(box, "error", "2.xml.reason.txt"); // comes after the file
        await _host.WaitForFileAsync(reason, cancellationToken);
        Assert.That(File.Exists(Path.Combine(box, "error", "2.xml")), Is.True);
        Assert.That(await File.ReadAllTextAsync(reason, cancellationToken), Does.Contain("ESB-XSL-DEPTH"));
    }

    [Test, CancelAfter(120_000)]
    public async Task Pattern_of_a_schema_that_cannot_be_decided_in_time_fails_its_message(CancellationToken cancellationToken)
    {
        var (status, text) = await AskAsync("/word", $"<w>{new string('a', 60)}</w>", cancellationToken);
        var fitting = await AskAsync("/word", "<w>ada@</w>", cancellationToken);

        Assert.That(status, Is.EqualTo(HttpStatusCode.UnprocessableEntity));
        Assert.That(text, Does.Contain("ESB-XML-SCHEMA").And.Contain("line 1, column").And.Contain("longer than 2 s"));
        Assert.That(fitting.Status, Is.EqualTo(HttpStatusCode.OK));
        await AssertThatNeighboursGoOnAsync(cancellationToken);
    }

    [Test, CancelAfter(120_000), Property("Case", "XSL-08")]
    public async Task List_of_ten_thousand_is_worked_through_or_refused(CancellationToken cancellationToken)
    {
        var (status, text) = await AskAsync("/list", $"<l>{string.Concat(Enumerable.Repeat("<i/>", 10_000))}</l>", cancellationToken);

        if (status == HttpStatusCode.OK)
            Assert.That(text.Split("<i />"), Has.Length.EqualTo(10_001));
        else
            Assert.That(text, Does.Contain("ESB-XSL-DEPTH"));
        await AssertThatNeighboursGoOnAsync(cancellationToken);
    }

    [Test, CancelAfter(120_000), Property("Case", "XSL-09")]
    public async Task Thousands_of_branches_are_compiled_and_taken(CancellationToken cancellationToken)
    {
        var (status, text) = await AskAsync("/branches", "<a>2999</a>", cancellationToken);

        Assert.That((status, text), Is.EqualTo((HttpStatusCode.OK, """<?xml version="1.0" encoding="utf-8"?><b>2999</b>""")));
        await AssertThatNeighboursGoOnAsync(cancellationToken);
    }

    [Test, Category("Thorough"), CancelAfter(120_000), Property("Case", "XSL-17")]
    public async Task Broken_replacement_is_told_and_a_sound_one_is_taken_without_a_restart(CancellationToken cancellationToken)
    {
        WriteMap("plain", "<xsl:template match='/'>");
        await _host.WaitAsync(
            async token => (await ReadinessAsync(token)).Contains("ESB-CFG-RELOAD map plain", StringComparison.Ordinal),
            TimeSpan.FromSeconds(20),
            "to tell of the broken map",
            cancellationToken
        );
        await AssertThatNeighboursGoOnAsync(cancellationToken);
        await _host.WaitForLogAsync(cancellationToken, "ESB-CFG-RELOAD map plain has changed and cannot be used");

        WriteMap("plain", "<xsl:template match='/'><two/></xsl:template>");
        await _host.WaitAsync(
            async token => (await AskAsync("/plain", "<a/>", token)).Text.EndsWith("<two />", StringComparison.Ordinal),
            TimeSpan.FromSeconds(20),
            "to take the sound map",
            cancellationToken
        );

        Assert.That(await ReadinessAsync(cancellationToken), Does.Not.Contain("ESB-CFG-RELOAD"));
    }

    [TestCase("file:x", Category = "Thorough"), TestCase("http:x", Category = "Thorough")]
    [CancelAfter(120_000), Property("Case", "XSL-17")]
    public async Task Include_that_names_no_file_is_told_and_other_maps_are_renewed_all_the_same(
        string reference,
        CancellationToken cancellationToken
    )
    {
        WriteMap("plain", "<xsl:template match='/'><before/></xsl:template>");
        await WaitForPlainAsync("<before />", cancellationToken);

        WriteMap("list", $"<xsl:include href='{reference}'/>");
        await _host.WaitAsync(
            async token => (await ReadinessAsync(token)).Contains("ESB-CFG-RELOAD map list", StringComparison.Ordinal),
            TimeSpan.FromSeconds(20),
            "to tell of the broken map",
            cancellationToken
        );
        WriteMap("plain", "<xsl:template match='/'><after/></xsl:template>");
        await WaitForPlainAsync("<after />", cancellationToken);
        var asked = await AskAsync("/list", "<l><i/></l>", cancellationToken);

        Assert.That(asked.Text, Does.EndWith("<n><i /></n>"), "the map before goes on");
        await _host.WaitForLogAsync(cancellationToken, "ESB-XSL-RESOLVE, list.xsl, line 1, column", $"'{reference}' is not allowed");

        WriteMap("list", List);
        await _host.WaitAsync(
            async token => !(await ReadinessAsync(token)).Contains("ESB-CFG-RELOAD", StringComparison.Ordinal),
            TimeSpan.FromSeconds(20),
            "to take the mended map",
            cancellationToken
        );
    }

    private Task WaitForPlainAsync(string made, CancellationToken cancellationToken) =>
        _host.WaitAsync(
            async token => (await AskAsync("/plain", "<a/>", token)).Text.EndsWith(made, StringComparison.Ordinal),
            TimeSpan.FromSeconds(20),
            $"to make {made}",
            cancellationToken
        );

    private async Task AssertThatNeighboursGoOnAsync(CancellationToken cancellationToken) =>
        Assert.That((await AskAsync("/plain", "<a/>", cancellationToken)).Status, Is.EqualTo(HttpStatusCode.OK));

    private Task<string> ReadinessAsync(CancellationToken cancellationToken) => _host.ReadAsync("/health/ready", cancellationToken);

    private async Task<(HttpStatusCode Status, string Text)> AskAsync(string path, string body, CancellationToken cancellationToken)
    {
        using var response = await _host.PostAsync(path, body, "application/xml", cancellationToken);
        return (response.StatusCode, await response.Content.ReadAsStringAsync(cancellationToken));
    }

    private void WriteMap(string name, string body) =>
        Write($"{name}.xsl", $"""<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">{body}</xsl:stylesheet>""");

    private void Write(string name, string text) => File.WriteAllText(Path.Combine(_folder.FullName, name), text);
}
