using Esb.IntegrationTests.EndToEnd.Hosts;
using Microsoft.Playwright;

namespace Esb.IntegrationTests.WebConsole;

/// <summary>A browser that is signed in to the console of a host, and notes everything that went wrong in its pages.</summary>
internal sealed class ConsoleBrowser : IAsyncDisposable
{
    private readonly List<string> _troubles = [];

    private ConsoleBrowser(IPage page) => Page = page;

    public IPage Page { get; }

    /// <summary>Errors of scripts and of the content security policy.</summary>
    public IReadOnlyList<string> Troubles => _troubles;

    public static async Task<ConsoleBrowser> OpenAsync(
        RunningHost host,
        ColorScheme scheme = ColorScheme.Light,
        int width = 1400,
        int height = 900,
        string? timeZone = null
    )
    {
        var browser = await Chromium.GetAsync();
        var page = await browser.NewPageAsync(
            new BrowserNewPageOptions
            {
                ColorScheme = scheme,
                ViewportSize = new ViewportSize { Width = width, Height = height },
                BaseURL = host.Management.ToString(),
                TimezoneId = timeZone,
            }
        );
        page.SetDefaultTimeout(60_000); // the machine may be busy
        await page.AddInitScriptAsync("navigator.clipboard.writeText = async text => { window.copied = text; };");
        var opened = new ConsoleBrowser(page);
        page.PageError += (_, error) => opened._troubles.Add(error);
        page.Console += (_, line) =>
        {
            if (line.Type == "error" && !line.Text.Contains("Failed to load resource", StringComparison.Ordinal))
                opened._troubles.Add(line.Text);
        };
        return opened;
    }

    /// <summary>Signs in with the key that the host wrote at its first start.</summary>
    public async Task SignInAsync(RunningHost host)
    {
        await Page.GotoAsync("/");
        await Page.GetByLabel("Management key")
            .FillAsync((await File.ReadAllTextAsync(Path.Combine(host.Folder, "esb-data", "management.key"))).Trim());
        await Page.GetByRole(AriaRole.Button, new() { Name = "Sign in" }).ClickAsync();
        await Page.GetByRole(AriaRole.Heading, new() { Name = "Overview" }).WaitForAsync();
    }

    /// <summary>Opens a page of the console, and waits for its heading.</summary>
    public async Task GoAsync(string path, string heading)
    {
        await Page.EvaluateAsync("path => { location.hash = path; }", $"/{path}");
        await Page.GetByRole(AriaRole.Heading, new() { Name = heading, Level = 1 }).WaitForAsync();
        await Page.WaitForFunctionAsync("() => !document.querySelector('main .loading')");
    }

    /// <summary>Scrolls a long list to its end, until its last row is in the page.</summary>
    public Task ScrollToLastRowAsync() =>
        Page.WaitForFunctionAsync(
            """
            () => {
              scrollTo(0, document.documentElement.scrollHeight);
              const rows = [...document.querySelectorAll('main tr[aria-rowindex]')];
              return document.querySelector('main table').ariaRowCount === rows.at(-1).ariaRowIndex;
            }
            """
        );

    /// <summary>Carries out an action, and asserts that the call that it offers to copy is the one that it makes.</summary>
    /// <param name="within">Where the action is.</param>
    /// <param name="action">Its name.</param>
    public async Task ActAsync(ILocator within, string action)
    {
        var place = within.Locator($"[data-action=\"{action}\"]").First;
        await place.Locator("[data-curl]").ClickAsync();
        var copied = await Page.EvaluateAsync<string>("() => window.copied");
        var sent = await Page.RunAndWaitForRequestAsync(
            () => place.GetByRole(AriaRole.Button, new() { Name = action, Exact = true }).ClickAsync(),
            request => request.Method != "GET" && !request.Url.EndsWith("/preview", StringComparison.Ordinal)
        );
        using (Assert.EnterMultipleScope())
        {
            Assert.That(copied, Does.StartWith($"curl -X {sent.Method} -H \"X-Esb-Key: $ESB_KEY\""));
            Assert.That(copied, Does.EndWith($"'{sent.Url}'"));
            if (sent.PostData is { } body)
                Assert.That(copied, Does.Contain($"'{body.Replace("'", "'\\''", StringComparison.Ordinal)}'"));
            if (sent.Headers.TryGetValue("content-type", out var type) && sent.PostData is not null)
                Assert.That(copied, Does.Contain($"'Content-Type: {type}'"));
        }
    }

    /// <summary>The violations of accessibility rules that axe finds in the page.</summary>
    public async Task<IReadOnlyList<string>> FindBarriersAsync()
    {
        await Page.EvaluateAsync(
            await File.ReadAllTextAsync(Repository.PathOf("tests", "Esb.IntegrationTests", "WebConsole", "axe", "axe.min.js"))
        );
        return await Page.EvaluateAsync<string[]>(
            """
            async () => (await axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa'] })).violations
                .map(found => `${found.id}: ${found.help}: ${found.nodes.slice(0, 3).map(node => node.html).join(' | ')}`)
            """
        );
    }

    /// <summary>Closes the page and what it kept, such as its session.</summary>
    public async ValueTask DisposeAsync() => await Page.CloseAsync();
}
