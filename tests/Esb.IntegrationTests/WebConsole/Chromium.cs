using Microsoft.Playwright;

namespace Esb.IntegrationTests.WebConsole;

/// <summary>The browser of the system, started for the first test that needs it; each test has a context of its own in it.</summary>
[SetUpFixture]
public sealed class Chromium
{
    private const string Program = "/usr/bin/chromium";

    private static readonly string[] Arguments =
    [
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
    ];

    private static readonly Lazy<Task<(IPlaywright Playwright, IBrowser Browser)>> Started = new(StartAsync);

    internal static async Task<IBrowser> GetAsync() => (await Started.Value).Browser;

    [OneTimeTearDown]
    public async Task Stop()
    {
        if (!Started.IsValueCreated)
            return;
        var (playwright, browser) = await Started.Value;
        await browser.CloseAsync();
        playwright.Dispose();
    }

    private static async Task<(IPlaywright Playwright, IBrowser Browser)> StartAsync()
    {
        if (!File.Exists(Program))
            throw new AssertionException($"{Program} is missing: run ./test as root, or apt-get install chromium.");
        var playwright = await Playwright.CreateAsync();
        return (
            playwright,
            await playwright.Chromium.LaunchAsync(
                new BrowserTypeLaunchOptions
                {
                    ExecutablePath = Program,
                    Args = Arguments,
                    Timeout = 60_000,
                }
            )
        );
    }
}
