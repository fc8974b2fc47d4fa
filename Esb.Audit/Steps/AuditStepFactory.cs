using Esb.Audit.Recording;
using Esb.Audit.Services;
using Esb.Configuration;
using Esb.Core.Pooling;
using Esb.Core.Processes;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;

namespace Esb.Audit.Steps;

/// <summary>Compiles the step <c>audit</c>, which has a pool of proxies of its own.</summary>
internal sealed class AuditStepFactory(LimitsConfig limits) : StepFactory<AuditStepConfig>
{
    public override string Kind => "audit";

    protected override StepModel Compile(AuditStepConfig settings, StepConfig step, IStepCompiler compiler)
    {
        var fields = AuditField.Compile(settings.Fields, compiler.Expressions, compiler.Errors);
        var owner = $"audit step {step.Id ?? settings.As} of {compiler.Process}";
        return new StepModel(step, $"audit({settings.As})")
        {
            Traits = new StepTraits { LeavesFacts = true, Values = [.. settings.Fields.Values] },
            Bind = fields.Count < settings.Fields.Count ? null : Bind,
        };

        MessageStep Bind(IServiceProvider services)
        {
            var (audit, time) = (services.GetRequiredService<AuditServices>(), services.GetRequiredService<TimeProvider>());
            var proxies = new InstancePool<AuditProxy>(
                owner,
                () => new AuditProxy(audit),
                new PoolLimits(settings.MaximumInstances, settings.PoolTimeout),
                time,
                services.GetRequiredService<ILogger<AuditStep>>()
            );
            var recorder = services.GetRequiredService<AuditRecorder>();
            return new AuditStep(settings, fields, proxies, limits.MaxBodySize.Bytes, recorder, time).RunAsync;
        }
    }
}
