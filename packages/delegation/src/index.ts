// Every line here is a promise to users.
export {};
