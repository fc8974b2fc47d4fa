using Esb.Host;
using Esb.Host.Commands;
using Esb.KnownBad;
using Microsoft.Extensions.DependencyInjection;

// The host as it is, but for one service that is broken on purpose: the fault tests have to notice.
var context = CommandContext.OfThisProcess() with { Services = () => new ServiceCollection().AddEsb().AcknowledgeTooEarly() };
return await EsbCommandLine.InvokeAsync(args, context);
