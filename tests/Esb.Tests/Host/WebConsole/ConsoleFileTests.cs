using System.Net;
using System.Security.Cryptography;
using System.Text;
using System.Text.RegularExpressions;
using Esb.Host.WebConsole;
using Esb.Tests.Host.Management;

namespace Esb.Tests.Host.WebConsole;

/// <summary>The files of the console: where they come from, how large they are, and how they are served.</summary>
[CancelAfter(60_000)]
public sealed class ConsoleFileTests : ManagementFixture
{
    private const int MostBytes = 120 * 1024;

    // What the browser loads before the overview is shown.
    private static readonly string[] First =
    [
        "index.html",
        "console.css",
        "icon.svg",
        "app.mjs",
        "api.mjs",
        "events.mjs",
        "ui.mjs",
        "vendor/preact.mjs",
        "vendor/hooks.mjs",
        "vendor/htm.mjs",
        "pages/overview.mjs",
    ];

    [Test]
    public void Libraries_are_those_that_were_reviewed()
    {
        var sums = Encoding
            .UTF8.GetString(ConsoleFiles.ReadSource("vendor/SHA256SUMS"))
            .Split('\n', StringSplitOptions.RemoveEmptyEntries)
            .Select(line => line.Split("  "))
            .ToDictionary(line => line[1], line => line[0]);

        Assert.That(sums, Is.Not.Empty);
        foreach (var (file, sum) in sums)
            Assert.That(Convert.ToHexStringLower(SHA256.HashData(ConsoleFiles.ReadSource($"vendor/{file}"))), Is.EqualTo(sum), file);
        var vendored = ConsoleFiles
            .All.Keys.Where(path => path.StartsWith("vendor/", StringComparison.Ordinal))
            .Select(path => path["vendor/".Length..]);
        Assert.That(vendored, Is.EquivalentTo(sums.Keys));
    }

    [Test]
    public void First_load_is_small()
    {
        var bytes = First.Sum(path => ConsoleFiles.All[path].Compressed.Length);

        TestContext.Out.WriteLine($"The first load takes {bytes} bytes.");
        Assert.That(bytes, Is.LessThan(MostBytes));
    }

    [Test]
    public void No_import_leads_outside_and_none_is_missing()
    {
        foreach (var (path, file) in ConsoleFiles.All.Where(file => file.Key.EndsWith(".mjs", StringComparison.Ordinal)))
        {
            foreach (
                Match match in Regex.Matches(
                    Encoding.UTF8.GetString(file.Bytes),
                    """import\s*[^;"()]*?from\s*"([^"]+)"|import\("([^"]+)"\)"""
                )
            )
            {
                var target = match.Groups[1].Value + match.Groups[2].Value;
                Assert.That(target, Does.StartWith("."), $"{path} imports {target}");
                var resolved = new Uri(new Uri($"http://console/{path}"), target).AbsolutePath[1..];
                Assert.That(ConsoleFiles.All.Keys, Does.Contain(resolved), $"{path} imports {target}");
            }
        }
    }

    // What changes something goes through the buttons and forms of ui.mjs, which show its call as curl.
    [Test]
    public void Pages_change_nothing_but_by_actions_that_show_their_call()
    {
        string[] reads = ["current", "get", "may", "query"];
        var pages = ConsoleFiles.All.Where(file => file.Key.StartsWith("pages/", StringComparison.Ordinal)).ToList();
        Assert.That(pages, Has.Count.GreaterThan(8));
        foreach (var (path, file) in pages)
        {
            var text = Encoding.UTF8.GetString(file.Bytes);
            var imported = Regex
                .Matches(text, """import \{([^}]*)\} from "\.\./api\.mjs";""")
                .SelectMany(match => match.Groups[1].Value.Split(',', StringSplitOptions.TrimEntries));

            Assert.That(imported, Is.SubsetOf(reads), path);
            Assert.That(text, Does.Not.Contain("import(\"../api.mjs\")"), path);
            Assert.That(Regex.Matches(text, @"fetch\([^)]*method").Count, Is.Zero, path);
        }

        var parts = Encoding.UTF8.GetString(ConsoleFiles.All["ui.mjs"].Bytes).Split("\nexport ");
        var senders = parts.Where(part => part.Contains("send(request)", StringComparison.Ordinal)).ToList();
        Assert.That(senders, Has.Count.EqualTo(2));
        Assert.That(senders, Is.All.Contains("<${CopyCurl}").And.All.Contains("request=${request}").And.All.Contains("data-action="));
    }

    [Test]
    public void Page_has_no_inline_script_or_style()
    {
        var index = Encoding.UTF8.GetString(ConsoleFiles.All[ConsoleFiles.Index].Bytes);

        Assert.That(index, Does.Not.Contain("<style").And.Not.Contain(" style=").And.Not.Contain("onload="));
        Assert.That(index.Split("<script").Skip(1), Is.All.Contains("src=").And.All.Contains("></script>"));
        Assert.That(index, Does.Not.Contain("{{version}}"));
    }

    [
        TestCase("/", "text/html"),
        TestCase("/console/app.mjs", "text/javascript"),
        TestCase("/console/console.css", "text/css"),
        TestCase("/console/icon.svg", "image/svg+xml")
    ]
    public async Task Files_are_served_without_a_key_and_allow_no_foreign_script(
        string path,
        string type,
        CancellationToken cancellationToken
    )
    {
        using var stranger = new HttpClient { BaseAddress = Host.Server.Address };

        using var answer = await stranger.GetAsync(path, cancellationToken);

        Assert.That(answer.StatusCode, Is.EqualTo(HttpStatusCode.OK));
        Assert.That(answer.Content.Headers.ContentType!.MediaType, Is.EqualTo(type));
        var policy = answer.Headers.GetValues("Content-Security-Policy").Single();
        Assert.That(
            policy,
            Does.Contain("script-src 'self';")
                .And.Contain("default-src 'none'")
                .And.Contain("frame-ancestors 'none'")
                .And.Not.Contain("unsafe")
        );
    }

    [Test]
    public async Task Known_file_is_not_sent_again_and_a_compressed_one_is_the_same(CancellationToken cancellationToken)
    {
        using var plain = await Client.GetAsync("/console/ui.mjs", cancellationToken);
        using var again = new HttpRequestMessage(HttpMethod.Get, "/console/ui.mjs") { Headers = { IfNoneMatch = { plain.Headers.ETag! } } };
        using var unchanged = await Client.SendAsync(again, cancellationToken);
        using var zipping = new HttpClient(new HttpClientHandler { AutomaticDecompression = DecompressionMethods.GZip })
        {
            BaseAddress = Host.Server.Address,
        };

        Assert.That(unchanged.StatusCode, Is.EqualTo(HttpStatusCode.NotModified));
        Assert.That(
            await zipping.GetStringAsync("/console/ui.mjs", cancellationToken),
            Is.EqualTo(await plain.Content.ReadAsStringAsync(cancellationToken))
        );
    }

    [
        TestCase("/console/none.mjs"),
        TestCase("/console/../esb.json"),
        TestCase("/console/%2e%2e/%2e%2e/etc/passwd"),
        TestCase("/console/vendor/SHA256SUMS")
    ]
    public async Task Nothing_else_is_served(string path, CancellationToken cancellationToken)
    {
        using var answer = await Client.GetAsync(path, cancellationToken);

        Assert.That(answer.StatusCode, Is.EqualTo(HttpStatusCode.NotFound));
    }
}
