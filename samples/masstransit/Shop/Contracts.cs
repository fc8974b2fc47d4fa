namespace Shop.Contracts;

/// <summary>Published by the shop; the ESB takes it from there.</summary>
public record OrderAccepted(Guid OrderId, string Customer, decimal Total, string? Note = null);

/// <summary>Published by the ESB, for an order that it has passed on.</summary>
public record OrderPacked(Guid OrderId, string Customer);

/// <summary>Published by the saga at its end.</summary>
public record OrderCompleted(Guid OrderId);

/// <summary>Asked by the shop, answered by the ESB.</summary>
public record GetPrice(string Sku);

public record Price(string Sku, decimal Amount);

/// <summary>Asked by the ESB, answered by the shop.</summary>
public record CheckStock(string Sku);

public record Stock(string Sku, int Pieces);
