using System.Collections;
using Esb.Core.Configuration;

namespace Esb.Host.Commands;

/// <summary>What commands work with.</summary>
internal sealed record CommandContext
{
    public required TextWriter Output { get; init; }

    public required TextWriter Error { get; init; }

    /// <summary>The environment variables.</summary>
    public required IReadOnlyDictionary<string, string> Variables { get; init; }

    /// <summary>Whether a person watches, who likes to see progress.</summary>
    public bool IsInteractive { get; init; }

    /// <summary>What a bus is made of.</summary>
    public required Func<IServiceCollection> Services { get; init; }

    public TimeProvider Time { get; init; } = TimeProvider.System;

    public static CommandContext OfThisProcess() => new()
    {
        Output = Console.Out,
        Error = Console.Error,
        Variables = Environment.GetEnvironmentVariables().Cast<DictionaryEntry>().ToDictionary(entry => (string)entry.Key, entry => (string?)entry.Value ?? ""),
        IsInteractive = !Console.IsErrorRedirected,
        Services = () => new ServiceCollection().AddEsb(),
    };
}
