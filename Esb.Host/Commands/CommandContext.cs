using System.Collections;
using Esb.Host.Plugins;

namespace Esb.Host.Commands;

/// <summary>The environment of a command.</summary>
internal sealed record CommandContext
{
    public static readonly TimeSpan DefaultReachTime = TimeSpan.FromSeconds(5);

    private const int DefaultWidth = 80;

    public required TextWriter Output { get; init; }

    public required TextWriter Error { get; init; }

    /// <summary>The environment variables.</summary>
    public required IReadOnlyDictionary<string, string> Variables { get; init; }

    /// <summary>True if a user watches the terminal, so that progress is shown.</summary>
    public bool IsInteractive { get; init; }

    /// <summary>The width of help texts, in columns; 80 unless a wider or narrower terminal shows them.</summary>
    public int Width { get; init; } = DefaultWidth;

    /// <summary>The service registrations of a bus.</summary>
    public required Func<IServiceCollection> Services { get; init; }

    public TimeProvider Time { get; init; } = TimeProvider.System;

    /// <summary>How long a host may take to show that it is there: 5 s unless the machine is known to be busy.</summary>
    public TimeSpan ReachTime { get; init; } = DefaultReachTime;

    public static CommandContext OfThisProcess()
    {
        var variables = Environment
            .GetEnvironmentVariables()
            .Cast<DictionaryEntry>()
            .ToDictionary(entry => (string)entry.Key, entry => (string?)entry.Value ?? "");
        var plugins = new Lazy<PluginCatalog>(() => PluginCatalog.Load(variables)); // loaded only by commands that read a configuration
        return new CommandContext
        {
            Output = Console.Out,
            Error = Console.Error,
            Variables = variables,
            IsInteractive = !Console.IsErrorRedirected,
            Width = Console.IsOutputRedirected || Console.WindowWidth <= 0 ? DefaultWidth : Console.WindowWidth,
            Services = () => plugins.Value.AddTo(new ServiceCollection().AddEsb()),
        };
    }
}
