using System.Globalization;
using Esb.Host;
using Esb.Host.Commands;
using Esb.KnownBad;
using Microsoft.Extensions.DependencyInjection;

// The host as it is, but for one service that is broken on purpose: the fault tests have to notice, or to find that it does no harm.
var clock = Environment.GetEnvironmentVariable("ESB_KNOWNBAD_CLOCK");
var context = CommandContext.OfThisProcess() with { Services = () => Break(new ServiceCollection().AddEsb()) };
return await EsbCommandLine.InvokeAsync(args, context);

IServiceCollection Break(IServiceCollection services) =>
    clock is null ? services.AcknowledgeTooEarly() : services.SetClock(TimeSpan.Parse(clock, CultureInfo.InvariantCulture));
