using System.Collections.Concurrent;
using System.Diagnostics;

namespace Esb.IntegrationTests.EndToEnd.Hosts;

/// <summary>The application of samples/masstransit in a process of its own, told what to do line by line.</summary>
internal sealed class ShopApplication : IAsyncDisposable
{
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(90);

    private readonly Process _process;
    private readonly ConcurrentQueue<string> _output = new();
    private readonly SemaphoreSlim _lines = new(0);
    private int _read;

    private ShopApplication(string program, string rabbitMq)
    {
        var start = new ProcessStartInfo("dotnet", [program])
        {
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        };
        start.Environment["SHOP_RABBITMQ"] = rabbitMq;
        _process = new Process { StartInfo = start };
        _process.OutputDataReceived += Keep;
        _process.ErrorDataReceived += Keep;
        _process.Start();
        _process.BeginOutputReadLine();
        _process.BeginErrorReadLine();
    }

    public string Output => string.Join('\n', _output);

    /// <summary>Starts it and waits until it is connected.</summary>
    public static async Task<ShopApplication> StartAsync(string program, string rabbitMq, CancellationToken cancellationToken)
    {
        var shop = new ShopApplication(program, rabbitMq);
        try
        {
            await shop.WaitForLineAsync("started", cancellationToken);
            return shop;
        }
        catch
        {
            await shop.DisposeAsync();
            throw;
        }
    }

    /// <summary>Gives a command, and returns the first line that begins with one of these.</summary>
    public async Task<string> TellAsync(string command, CancellationToken cancellationToken, params string[] beginnings)
    {
        await _process.StandardInput.WriteLineAsync(command);
        return await WaitForLineAsync(beginnings, cancellationToken);
    }

    /// <summary>Asks for a report until it is as wanted.</summary>
    public async Task<string> WaitForReportAsync(Func<string, bool> isWanted, CancellationToken cancellationToken)
    {
        var began = TimeProvider.System.GetTimestamp();
        while (true)
        {
            var report = await TellAsync("report", cancellationToken, "packed ");
            if (isWanted(report))
                return report;
            if (TimeProvider.System.GetElapsedTime(began) > Limit)
                Assert.Fail($"Waited in vain; last report: {report}");
            await Task.Delay(100, cancellationToken);
        }
    }

    public async ValueTask DisposeAsync()
    {
        if (!_process.HasExited)
            _process.Kill(entireProcessTree: true);
        await _process.WaitForExitAsync();
        _process.Dispose();
        _lines.Dispose();
    }

    private Task<string> WaitForLineAsync(string beginning, CancellationToken cancellationToken) =>
        WaitForLineAsync([beginning], cancellationToken);

    private async Task<string> WaitForLineAsync(string[] beginnings, CancellationToken cancellationToken)
    {
        while (true)
        {
            if (!await _lines.WaitAsync(Limit, cancellationToken))
                Assert.Fail($"Waited in vain for {string.Join(" or ", beginnings)}:\n{Output}");
            var line = _output.ElementAt(_read++);
            if (beginnings.Any(beginning => line.StartsWith(beginning, StringComparison.Ordinal)))
                return line;
            if (line.StartsWith("failed", StringComparison.Ordinal))
                Assert.Fail(line);
        }
    }

    private void Keep(object sender, DataReceivedEventArgs line)
    {
        if (line.Data is null)
            return;
        _output.Enqueue(line.Data);
        _lines.Release();
    }
}
