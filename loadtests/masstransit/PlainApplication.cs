using System.Diagnostics;
using MassTransit;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace MassTransitLoad
{
    /// <summary>The plain side: a consumer that publishes.</summary>
    public static class PlainApplication
    {
        private const int AtOnce = 64;

        public static readonly Way Source = new("Load:PlainIn", "", "load-plain", IsEnveloped: true);
        public static readonly Way Target = new("Load:PlainOut", "", null, IsEnveloped: true);

        public static IDisposable Start() =>
            new StartedProcess(Environment.ProcessPath!, Path.Combine(AppContext.BaseDirectory, "Compare.dll"), "plain");

        public static async Task RunAsync(string rabbit)
        {
            var builder = Microsoft.Extensions.Hosting.Host.CreateApplicationBuilder();
            builder.Logging.SetMinimumLevel(LogLevel.Warning);
            builder.Services.AddMassTransit(bus =>
            {
                bus.DisableUsageTelemetry();
                bus.AddConsumer<Load.PlainConsumer>();
                bus.UsingRabbitMq(
                    (context, configure) =>
                    {
                        configure.Host(new Uri(rabbit));
                        configure.ReceiveEndpoint(
                            Source.Queue!,
                            endpoint =>
                            {
                                endpoint.PrefetchCount = 2 * AtOnce;
                                endpoint.ConcurrentMessageLimit = AtOnce;
                                endpoint.ConfigureConsumer<Load.PlainConsumer>(context);
                            }
                        );
                    }
                );
            });
            await builder.Build().RunAsync();
        }
    }

    /// <summary>A process that is killed when it is disposed, after it had a moment to stop.</summary>
    public sealed class StartedProcess : IDisposable
    {
        private readonly Process _process;

        public StartedProcess(string program, params string[] arguments)
            : this(new ProcessStartInfo(program, arguments)) { }

        public StartedProcess(ProcessStartInfo start)
        {
            start.RedirectStandardOutput = start.RedirectStandardError = true;
            _process = Process.Start(start)!;
            _process.OutputDataReceived += (_, line) => Show(line.Data);
            _process.ErrorDataReceived += (_, line) => Show(line.Data);
            _process.BeginOutputReadLine();
            _process.BeginErrorReadLine();
        }

        public void Dispose()
        {
            using (var kill = Process.Start("kill", ["-TERM", $"{_process.Id}"]))
                kill.WaitForExit();
            if (!_process.WaitForExit(TimeSpan.FromSeconds(40)))
                _process.Kill(entireProcessTree: true);
            _process.Dispose();
        }

        private static void Show(string? line)
        {
            if (Environment.GetEnvironmentVariable("LOAD_VERBOSE") is not null && line is not null)
                Console.Error.WriteLine(line);
        }
    }
}

namespace Load
{
    public record PlainIn(Guid OrderId, string Text);

    public record PlainOut(Guid OrderId, string Text);

    public class PlainConsumer : IConsumer<PlainIn>
    {
        public Task Consume(ConsumeContext<PlainIn> context) =>
            context.Publish(new PlainOut(context.Message.OrderId, context.Message.Text));
    }
}
