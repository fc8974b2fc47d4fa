using Esb.Core.Audit;

namespace Esb.Tests.Audit.Journeys;

/// <summary>What often happens to messages.</summary>
internal static class Stories
{
    public static readonly IReadOnlyDictionary<string, Func<Story>> All = new Dictionary<string, Func<Story>>
    {
        ["fan-out"] = FanOut,
        ["retry-and-replay"] = RetryAndReplay,
        ["request-reply"] = RequestReply,
        ["call"] = Call,
        ["relay"] = Relay,
        ["relay-failed"] = RelayFailed,
        ["steps"] = Steps,
        ["refused"] = Refused,
        ["duplicate"] = Duplicate,
        ["parked"] = Parked,
        ["second-publish"] = SecondPublish,
        ["redirect-and-edit"] = RedirectAndEdit,
    };

    public static Story FanOut() =>
        Story
            .OfOrder()
            .After(2)
            .Try(AuditKind.Delivered, 1, "ledger", 1, took: 1)
            .After(3)
            .On(Story.HostB)
            .Try(AuditKind.Delivered, 1, "shop", 1, took: 4)
            .After(9)
            .Try(AuditKind.Delivered, 1, "archive", 1, took: 12);

    public static Story RetryAndReplay() =>
        Story
            .OfOrder()
            .After(6)
            .Try(AuditKind.Failed, 1, "shop", 1, "ESB-HTTP-STATUS")
            .After(10_000)
            .On(Story.HostB)
            .Try(AuditKind.Failed, 1, "shop", 2, "ESB-HTTP-STATUS")
            .After(2)
            .On(Story.HostA)
            .GiveUp(1, "shop", 2, "ESB-HTTP-STATUS")
            .After(3_600_000)
            .Replay(1, "shop")
            .After(20)
            .On(Story.HostB)
            .Try(AuditKind.Delivered, 1, "shop", 1, took: 7);

    public static Story RequestReply() =>
        new Story()
            .Add(AuditKind.Received, 1, fact => fact with { Endpoint = "prices-in", Process = "ask-price" })
            .After(30)
            .On(Story.HostB)
            .Try(AuditKind.Replied, 1, "pricing", 1, took: 20, subject: "prices.ask")
            .After(4)
            .On(Story.HostA)
            .Add(AuditKind.Published, 1, fact => fact with { Endpoint = "prices-in", Process = "ask-price", Subject = "prices.ask" })
            .Add(
                AuditKind.Replied,
                1,
                fact => fact with { Endpoint = "prices-in", Process = "ask-price", Subject = "prices.ask", Duration = Story.Ms(33) }
            )
            .After(2)
            .Add(AuditKind.Replied, 1, fact => fact with { Endpoint = "prices-in", Process = "ask-price", Duration = Story.Ms(36) });

    public static Story Call() =>
        new Story()
            .Add(AuditKind.Received, 1, fact => fact with { Endpoint = "quotes-in", Process = "quote" })
            .After(15)
            .Add(
                AuditKind.Failed,
                1,
                fact =>
                    fact with
                    {
                        Endpoint = "rates",
                        Process = "quote",
                        Step = "call(rates)",
                        Duration = Story.Ms(14),
                        Code = "ESB-HTTP-TIMEOUT",
                        Reason = "No answer in time.",
                        Attempt = 1,
                    }
            )
            .After(12)
            .Add(
                AuditKind.Delivered,
                1,
                fact => fact with { Endpoint = "rates", Process = "quote", Step = "call(rates)", Duration = Story.Ms(11), Attempt = 2 }
            )
            .After(1)
            .Add(AuditKind.Completed, 1, fact => fact with { Endpoint = "quotes-in", Process = "quote", Duration = Story.Ms(28) });

    public static Story Relay() =>
        Relayed()
            .After(21)
            .Add(
                AuditKind.Replied,
                1,
                fact =>
                    fact with
                    {
                        Endpoint = "legacy",
                        Party = "shop",
                        Duration = Story.Ms(21),
                        Fields = new Dictionary<string, string> { ["relayed-to"] = "backend", ["status"] = "404" },
                    }
            );

    public static Story RelayFailed() =>
        Relayed()
            .After(5_000)
            .Add(
                AuditKind.Failed,
                1,
                fact =>
                    fact with
                    {
                        Endpoint = "legacy",
                        Party = "shop",
                        Code = "ESB-HTTP-TIMEOUT",
                        Reason = "The endpoint 'backend' did not answer in time.",
                        Fields = new Dictionary<string, string> { ["relayed-to"] = "backend" },
                    }
            );

    public static Story Steps() =>
        new Story()
            .Add(AuditKind.Received, 1, fact => fact with { Endpoint = "quotes-in", Process = "quote" })
            .After(1)
            .Add(
                AuditKind.StepEnded,
                1,
                fact => fact with { Endpoint = "quotes-in", Process = "quote", Step = "to-rates", Name = "before" }
            )
            .After(3)
            .Add(
                AuditKind.StepEnded,
                1,
                fact => fact with { Endpoint = "quotes-in", Process = "quote", Step = "to-rates", Name = "after", Duration = Story.Ms(3) }
            )
            .After(12)
            .Add(
                AuditKind.Delivered,
                1,
                fact => fact with { Endpoint = "rates", Process = "quote", Step = "ask-rates", Duration = Story.Ms(12) }
            )
            .After(1)
            .Add(
                AuditKind.StepEnded,
                1,
                fact =>
                    fact with
                    {
                        Endpoint = "quotes-in",
                        Process = "quote",
                        Step = "check",
                        Code = "APP-NO-RATE",
                        Reason = "There is no rate.",
                    }
            )
            .After(1)
            .Add(AuditKind.Replied, 1, fact => fact with { Endpoint = "quotes-in", Process = "quote", Duration = Story.Ms(18) });

    public static Story Refused() =>
        new Story()
            .Add(AuditKind.Received, 1, fact => fact with { Endpoint = "orders-in", Process = "receive-order" })
            .After(2)
            .Add(
                AuditKind.Refused,
                1,
                fact =>
                    fact with
                    {
                        Endpoint = "orders-in",
                        Process = "receive-order",
                        Code = "ESB-XML-SCHEMA",
                        Reason = "The element 'total' is missing.",
                    }
            );

    public static Story Duplicate() =>
        Story
            .OfOrder()
            .After(5)
            .Try(AuditKind.Delivered, 1, "ledger", 1)
            .After(60_000)
            .Add(
                AuditKind.Duplicate,
                1,
                fact =>
                    fact with
                    {
                        Endpoint = "ledger",
                        Attempt = 1,
                        Duration = Story.Ms(2),
                        Code = "ESB-SQL-ONCE",
                        Reason = "It was applied before.",
                    }
            );

    public static Story Parked() =>
        Story
            .OfOrder()
            .After(6)
            .Try(AuditKind.Failed, 1, "ledger", 1, "ESB-SQL-AWAY")
            .After(1)
            .Try(AuditKind.Parked, 1, "ledger", 1, "ESB-SQL-AWAY");

    public static Story SecondPublish() =>
        Story
            .OfOrder()
            .After(1)
            .Add(
                AuditKind.Published,
                2,
                fact =>
                    fact with
                    {
                        CausedBy = Story.MessageId(1),
                        Endpoint = "orders-in",
                        Process = "receive-order",
                        Subject = "invoices.new",
                        Duration = Story.Ms(2),
                    }
            )
            .After(5)
            .Try(AuditKind.Delivered, 1, "shop", 1)
            .After(1)
            .On(Story.HostB)
            .Try(AuditKind.Delivered, 2, "billing", 1, subject: "invoices.new");

    public static Story RedirectAndEdit() =>
        Story
            .OfOrder()
            .After(6)
            .Try(AuditKind.Failed, 1, "shop", 1, "ESB-HTTP-STATUS")
            .GiveUp(1, "shop", 1, "ESB-HTTP-STATUS")
            .After(500)
            .Try(AuditKind.Failed, 1, "ledger", 1, "ESB-SQL-DATA")
            .GiveUp(1, "ledger", 1, "ESB-SQL-DATA")
            .After(60_000)
            .Replay(1, "shop-2", ("redirected-from", "shop"))
            .After(10)
            .Try(AuditKind.Delivered, 1, "shop-2", 1)
            .After(60_000)
            .Replay(2, "ledger", ("replay-of", Story.MessageId(1).ToString()))
            .After(10)
            .Try(AuditKind.Delivered, 2, "ledger", 1);

    private static Story Relayed() =>
        new Story().Add(
            AuditKind.Received,
            1,
            fact =>
                fact with
                {
                    Endpoint = "legacy",
                    Party = "shop",
                    Fields = new Dictionary<string, string>
                    {
                        ["method"] = "POST",
                        ["path"] = "/legacy",
                        ["relayed-to"] = "backend",
                    },
                }
        );
}
