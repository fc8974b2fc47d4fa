using System.Net;
using System.Net.Sockets;
using Esb.Configuration;
using Esb.Configuration.Compiling;
using Esb.Configuration.Settings;
using Esb.Core.Configuration;
using Esb.Host;
using Esb.Host.Composition;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Tests.Host.Composition;

/// <summary>Compiles configurations in a process of its own, and writes down what the process holds afterwards that it did not hold
/// before.</summary>
internal static class CompileTrace
{
    /// <summary>The variable with the file that the findings are written to.</summary>
    public const string Report = "ESB_TEST_COMPILE_REPORT";

    /// <summary>The variable with the configurations, between colons.</summary>
    public const string Configurations = "ESB_TEST_COMPILE";

    /// <summary>The variable that adds a rule which starts and opens things.</summary>
    public const string WithCulprit = "ESB_TEST_COMPILE_CULPRIT";

    /// <summary>What the last line says when all were compiled.</summary>
    public const string Compiled = "compiled";

    public static readonly IReadOnlyDictionary<string, string> Variables = new Dictionary<string, string>
    {
        ["ESB_RABBITMQ"] = "amqp://esb:secret@localhost",
        ["ESB_POSTGRES"] = "Host=localhost;Username=esb;Password=secret",
        ["ESB_BACKEND"] = "http://localhost:9000",
        ["ESB_SFTP"] = "sftp://esb@localhost",
        ["ESB_SFTP_PASSWORD"] = "secret",
        ["ESB_SMTP"] = "smtp://mail.example.com",
        ["ESB_SMTP_USER"] = "shop",
        ["ESB_SMTP_PASSWORD"] = "secret",
        ["ESB_SFTP_HOSTKEY"] = "SHA256:nThbg6kXUpJWGl7E1IGOCspRomTxdCARLviKw6E5SY8",
    };

    // Of the runtime itself: it compiles methods anew that run often, collects garbage, and has a pool of threads.
    private static readonly string[] OfTheRuntime = [".NET Tiered Com", ".NET BGC", ".NET TP Worker", ".NET TP Gate"];

    public static void Run()
    {
        if (Environment.GetEnvironmentVariable(Report) is not { } report)
            return;
        try
        {
            var models = new List<BusModel>();
            foreach (var configuration in Environment.GetEnvironmentVariable(Configurations)!.Split(':'))
            {
                var before = Held();
                models.Add(Compile(configuration));
                File.AppendAllLines(report, Held().Except(before).Select(held => $"{configuration}: {held}"));
            }

            File.AppendAllLines(report, [$"{Compiled} {models.Count}"]);
            Environment.Exit(0);
        }
        catch (Exception ex)
        {
            File.AppendAllLines(report, [ex.ToString()]);
            Environment.Exit(1);
        }
    }

    private static BusModel Compile(string path)
    {
        var services = new ServiceCollection().AddEsb();
        if (Environment.GetEnvironmentVariable(WithCulprit) is not null)
            services.AddRule<Culprit>();
        var errors = new ConfigErrors();
        var configuration = new ConfigurationReader(SettingsCatalog.From(services)).Read(path, Variables, errors);
        var model = errors.Any ? null : CompilePhase.Compile(services, configuration!, errors, new TimeWithoutTimers());
        return errors.Any ? throw new InvalidOperationException(string.Join('\n', errors.All)) : model!;
    }

    private static HashSet<string> Held() =>
        [
            .. Directory
                .GetDirectories("/proc/self/task")
                .Select(thread => $"thread {Path.GetFileName(thread)} {File.ReadAllText(Path.Combine(thread, "comm")).Trim()}")
                .Where(thread => !OfTheRuntime.Any(thread.EndsWith)),
            .. Directory
                .GetFileSystemEntries("/proc/self/fd")
                .Select(handle => new FileInfo(handle).LinkTarget)
                .OfType<string>()
                .Where(target =>
                    !target.StartsWith("/proc/", StringComparison.Ordinal) && !target.EndsWith(".dll", StringComparison.Ordinal)
                ) // what lists them, and assemblies
                .Select(target => $"handle {target}"),
            $"timers {Timer.ActiveCount}",
            $"threads of the pool at work {BusyWorkers()}",
        ];

    // The container has the pool compile how it finds what is asked for often, which ends.
    private static int BusyWorkers()
    {
        var busy = 0;
        SpinWait.SpinUntil(() => ThreadPool.PendingWorkItemCount + (busy = Count()) == 0, TimeSpan.FromSeconds(10));
        return busy;

        static int Count()
        {
            ThreadPool.GetMaxThreads(out var most, out _);
            ThreadPool.GetAvailableThreads(out var idle, out _);
            return most - idle;
        }
    }

    private sealed class TimeWithoutTimers : TimeProvider
    {
        public override ITimer CreateTimer(TimerCallback callback, object? state, TimeSpan dueTime, TimeSpan period) =>
            throw new InvalidOperationException("The compile phase starts a timer.");
    }

    private sealed class Culprit : IConfigurationRule
    {
        private static readonly List<object> Alive = [];

        public void Check(ConfigErrors errors)
        {
            var listener = new TcpListener(IPAddress.Loopback, 0);
            listener.Start();
            var thread = new Thread(() => Thread.CurrentThread.Join()) { IsBackground = true };
            thread.Start();
            var worker = Task.Run(() => Thread.CurrentThread.Join());
            Alive.AddRange([listener, thread, worker, new Timer(_ => { }, null, TimeSpan.FromHours(1), TimeSpan.FromHours(1))]);
        }
    }
}
