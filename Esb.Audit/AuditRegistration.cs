using Esb.Audit.Activities;
using Esb.Audit.Pressure;
using Esb.Audit.Recording;
using Esb.Audit.Services;
using Esb.Audit.Spooling;
using Esb.Audit.Steps;
using Esb.Configuration;
using Esb.Configuration.Compiling;
using Esb.Configuration.Revisions;
using Esb.Content.Masking;
using Esb.Content.Xml;
using Esb.Core;
using Esb.Core.Activities;
using Esb.Core.Audit;
using Esb.Core.Configuration;
using Esb.Core.Expressions;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Audit;

/// <summary>The audit trail and the step that records in it.</summary>
public static class AuditRegistration
{
    /// <summary>Registers the trail, the step <c>audit</c>, activities, and what moves and removes facts.</summary>
    public static IServiceCollection AddEsbAudit(this IServiceCollection services) => services.AddRecording().AddActivities().AddKeeping();

    private static IServiceCollection AddRecording(this IServiceCollection services) =>
        services
            .AddSection<AuditConfig>("audit", "How messages are recorded.")
            .FixSettings("audit", "anchors", "anchorKey", "anchorInterval")
            .AddFixedModel<AuditEvidenceConfig>(compiling => compiling.GetRequiredService<AuditConfig>())
            .AddStep<AuditStepFactory, AuditStepConfig>("audit", "Records the message where it stands.")
            .AddCompiler<IMessageMask, AuditMaskCompiler>()
            .AddCompiler<AuditPolicies, AuditPolicyCompiler>()
            .AddScoped<AuditRecorder>()
            .AddSingleton<AuditServices>()
            .AddSingleton<IRevisionPart>(provider => provider.GetRequiredService<AuditServices>());

    private static IServiceCollection AddActivities(this IServiceCollection services) =>
        services
            .AddSection<IReadOnlyDictionary<string, ActivityConfig>>(
                "activities",
                "Business activities, followed by the audit facts of their messages."
            )
            .AddCompiler<IReadOnlyList<ActivityModel>, ActivityCompiler>()
            .AddSingleton<ActivityFeed>()
            .AddSingleton<IActivityDesk, ActivityDesk>()
            .AddSingleton<IBusPart, ActivityRetention>();

    private static IServiceCollection AddKeeping(this IServiceCollection services) =>
        services
            .AddSingleton<IAuditWriter, FollowedAuditWriter>()
            .AddSingleton<RefusedFacts>()
            .AddSingleton<AuditTrail>()
            .AddSingleton<IAuditTrail>(provider => provider.GetRequiredService<AuditTrail>())
            .AddSingleton<IHealthCheck>(provider => provider.GetRequiredService<AuditTrail>())
            .AddSingleton<AuditGate>()
            .AddSingleton<IAuditGate>(provider => provider.GetRequiredService<AuditGate>())
            .AddSingleton<IHealthCheck>(provider => provider.GetRequiredService<AuditGate>())
            .AddSingleton<IBusPart>(provider => provider.GetRequiredService<AuditGate>())
            .AddSingleton<IBusPart, AuditMover>()
            .AddSingleton<IBusPart, AuditRetention>();
}
