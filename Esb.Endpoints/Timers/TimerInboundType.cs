using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Core.Expressions;
using Esb.Core.Storage;
using Esb.Delivery.Intake.Overload;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;

namespace Esb.Endpoints.Timers;

/// <summary>The type <c>timer-inbound</c>.</summary>
internal sealed class TimerInboundType(IExpressionCompiler expressions) : InboundEndpointType<TimerInboundConfig>
{
    protected override CreateInbound? Compile(TimerInboundConfig settings, ConfigErrors errors)
    {
        Check(settings, errors);
        var value = settings.Body is { } body ? expressions.Compile(body, errors) : null;
        if (settings.Cron is null == settings.Interval is null)
            return null; // reported already
        var rule = new TimerRule(settings);
        var made = new TimerBody(value, settings.Body?.Value);
        return (services, intake) => Create(settings, rule, made, services, intake);
    }

    private static void Check(TimerInboundConfig settings, ConfigErrors errors)
    {
        if (settings.Relay is not null)
            errors.Add("ESB-CFG-VALUE", settings, "relay", "a tick cannot be relayed: expected process or publish");
        if (settings.Mode == ExchangePattern.RequestReply)
            errors.Add("ESB-CFG-VALUE", settings, "mode", "a timer has no caller that waits for an answer: expected one-way");
        if (settings is { TimeZone: not null, Interval: not null })
            errors.Add(
                "ESB-CFG-VALUE",
                settings,
                "timeZone",
                "an interval has the same length in every time zone: expected cron beside it"
            );
        if (settings.Body is { } body && (body.Xpath ?? body.Jsonpath ?? body.Header) is not null)
            errors.Add(
                "ESB-CFG-VALUE",
                settings,
                "body",
                "a tick has no body or headers to read: expected a constant, a template, or the property timer.due"
            );
    }

    private static TimerInboundEndpoint Create(
        TimerInboundConfig settings,
        TimerRule rule,
        TimerBody body,
        IServiceProvider services,
        IMessageIntake intake
    )
    {
        var (time, loggers) = (services.GetRequiredService<TimeProvider>(), services.GetRequiredService<ILoggerFactory>());
        var admission = services.GetRequiredService<Admissions>().Of(settings, intake.NeedsTopics);
        var mark = new TimerMark(settings.Name, rule, services.GetRequiredService<IEndpointMarks>());
        var desk = new TimerDesk(
            settings,
            new TimerHandOver(settings, body, intake, time),
            mark,
            admission,
            time,
            loggers.CreateLogger<TimerDesk>()
        );
        return new TimerInboundEndpoint(settings, rule, mark, desk, admission, time, loggers.CreateLogger<TimerInboundEndpoint>());
    }
}
