using System.Globalization;
using Esb.Host;
using Esb.Host.Commands;
using Esb.KnownBad;
using Microsoft.Extensions.DependencyInjection;

// The host as it is, but for one service that is broken on purpose: the fault tests have to notice, or to find that it does no harm.
var context = CommandContext.OfThisProcess() with
{
    Services = () => Break(new ServiceCollection().AddEsb()),
};
return await EsbCommandLine.InvokeAsync(args, context);

static IServiceCollection Break(IServiceCollection services)
{
    if (Variable("CLOCK") is { } ahead)
        return services.SetClock(new WrongClock(TimeSpan.Parse(ahead, CultureInfo.InvariantCulture)));
    if (Variable("MOVEDCLOCK") is { } file)
        return services.SetClock(new MovedClock(file));
    if (Variable("THROWS") is { } throwing)
        return services.BreakEndpoints(throwing, BrokenSends.Throwing);
    if (Variable("UNMADE") is { } unmade)
        return services.UnmakeEndpoint(unmade);
    if (Variable("DEAF") is { } deaf)
        return services.BreakEndpoints(deaf, BrokenSends.Deaf);
    if (Variable("READS") is { } deadly)
    {
        DeadlyReads.Of(deadly);
        return services;
    }

    return services.BreakEndpoints(null, BrokenSends.Hasty);
}

static string? Variable(string name) => Environment.GetEnvironmentVariable($"ESB_KNOWNBAD_{name}");
