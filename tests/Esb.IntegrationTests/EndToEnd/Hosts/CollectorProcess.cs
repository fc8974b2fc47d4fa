using System.Diagnostics;
using System.Net.Sockets;
using System.Text;
using Esb.Tests;

namespace Esb.IntegrationTests.EndToEnd.Hosts;

/// <summary>An OpenTelemetry collector that prints what it gets.</summary>
internal sealed class CollectorProcess : IAsyncDisposable
{
    private readonly Process _process;
    private readonly StringBuilder _output = new();

    private CollectorProcess(string program, string folder, int port)
    {
        Url = $"http://127.0.0.1:{port}";
        var configuration = Path.Combine(folder, "collector.yaml");
        File.WriteAllText(
            configuration,
            $$"""
            receivers: { otlp: { protocols: { grpc: { endpoint: 127.0.0.1:{{port}} } } } }
            exporters: { debug: { verbosity: detailed } }
            service: { telemetry: { metrics: { level: none } }, pipelines: { traces: { receivers: [otlp], exporters: [debug] }, metrics: { receivers: [otlp], exporters: [debug] } } }
            """
        );
        _process = new Process
        {
            StartInfo = new ProcessStartInfo(program, ["--config", configuration])
            {
                RedirectStandardError = true,
                RedirectStandardOutput = true,
            },
        };
        _process.OutputDataReceived += Keep;
        _process.ErrorDataReceived += Keep;
        _process.Start();
        _process.BeginErrorReadLine();
        _process.BeginOutputReadLine();
    }

    public string Url { get; }

    public string Output
    {
        get
        {
            lock (_output)
                return _output.ToString();
        }
    }

    public static async Task<CollectorProcess> StartAsync(string folder, CancellationToken cancellationToken)
    {
        var folders = (Environment.GetEnvironmentVariable("PATH") ?? "")
            .Split(':')
            .Append(Path.Combine(Repository.Root, "..", "shared", "bin"));
        var program = folders.Select(path => Path.Combine(path, "otelcol")).FirstOrDefault(File.Exists);
        if (program is null)
            Assert.Ignore("No otelcol on the path: what it would get is not proven by this run.");

        var port = FreePorts.Next();
        var collector = new CollectorProcess(program!, folder, port);
        while (!await ListensAsync(port, cancellationToken))
            await Task.Delay(50, cancellationToken);
        return collector;
    }

    public async ValueTask DisposeAsync()
    {
        if (!_process.HasExited)
            _process.Kill();
        await _process.WaitForExitAsync();
        _process.Dispose();
    }

    private static async Task<bool> ListensAsync(int port, CancellationToken cancellationToken)
    {
        try
        {
            using var client = new TcpClient();
            await client.ConnectAsync("127.0.0.1", port, cancellationToken);
            return true;
        }
        catch (SocketException)
        {
            return false;
        }
    }

    private void Keep(object sender, DataReceivedEventArgs line)
    {
        lock (_output)
            _output.AppendLine(line.Data);
    }
}
