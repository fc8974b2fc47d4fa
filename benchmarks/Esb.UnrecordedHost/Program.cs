using Esb.Core.Audit;
using Esb.Host;
using Esb.Host.Commands;
using Esb.UnrecordedHost;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.DependencyInjection.Extensions;

// The host as it is, but for the audit trail, which keeps nothing: what S10 compares the audit with. The bus itself has no such mode.
var context = CommandContext.OfThisProcess() with
{
    Services = () => new ServiceCollection().AddEsb().Replace(ServiceDescriptor.Singleton<IAuditTrail, NoAuditTrail>()),
};
return await EsbCommandLine.InvokeAsync(args, context);
